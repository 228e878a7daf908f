import assert from 'node:assert/strict';
import { test } from 'node:test';
import { htmlTables, markdownTables } from './docs-models.ts';

const search = { id: 'web<search>', price_per_search: 0.005, price_per_search_max: 0.1234567 };
const prices = { data: [], web_search: search, endOf: () => undefined };

test('names are text, prices have two to six decimals, and what is not sold has no table', () => {
  const html = htmlTables(prices);
  assert.ok(html.includes('<code>web&lt;search&gt;</code>'), html);
  assert.equal(html.match(/<table/g)?.length, 1);
  assert.ok(markdownTables(prices).endsWith('| web<search> | $0.005 | $0.123457 |'));
});

test('models that answer no conversations have a table of their own, each with its unit', () => {
  const tokens = { input_price_per_1m: 0, output_price_per_1m: 0, max_prompt_tokens: 8192 };
  const data = [
    { ...tokens, id: 'e', type: 'embedding', input_price_per_1m: 0.02 },
    { ...tokens, id: 'r', type: 'rerank', price_per_search_unit: 0.003 },
    { ...tokens, id: 's', type: 'speech', price_per_1m_characters: 15 },
  ] as never;
  const rows = markdownTables({ ...prices, web_search: null, data }).split('\n');
  assert.deepEqual(rows, [
    '| Other model | Type | Price | Longest input | Notes |',
    '| --- | --- | --- | --- | --- |',
    '| e | embedding | $0.02 | 8,192 |  |',
    '| r | rerank | $0.003 a search unit | 8,192 |  |',
    '| s | speech | $15.00 a million characters | 8,192 |  |',
  ]);
});

test('a gateway without models says so', () => {
  const empty = { ...prices, web_search: null };
  assert.equal(htmlTables(empty), '<p>No model can be run yet.</p>');
  assert.equal(markdownTables(empty), 'No model can be run yet.');
});
