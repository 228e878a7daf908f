import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inputTokensWithTools, type AskedTools } from './asked-tools.ts';

const search = (searchesMax: number): AskedTools => ({
  searchesMax,
  price: { listPicos: 0n, upstreamPicos: 0n },
  billsResults: true,
  mayBeFewer: false,
  limitField: 'max_tool_calls',
});

test('without a search the input is the estimate, within the context', () => {
  assert.equal(inputTokensWithTools(null, { promptTokens: 700, contextTokens: 1_000 }), 700);
  assert.equal(inputTokensWithTools(null, { promptTokens: 7_000, contextTokens: 1_000 }), 1_000);
});

test('every search adds one more reading of the prompt and all results so far', () => {
  const size = { promptTokens: 500, contextTokens: 1_000_000 };
  assert.equal(inputTokensWithTools(search(1), size), 500 + 10_500);
  assert.equal(inputTokensWithTools(search(3), size), 500 + 10_500 + 20_500 + 30_500);
});

test('no round reads more than the context', () => {
  assert.equal(
    inputTokensWithTools(search(3), { promptTokens: 500, contextTokens: 15_000 }),
    500 + 10_500 + 15_000 * 2,
  );
  assert.equal(
    inputTokensWithTools(search(100), { promptTokens: 500_000, contextTokens: 1_000 }),
    101_000,
  );
});
