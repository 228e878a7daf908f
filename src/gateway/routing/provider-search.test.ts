import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inputTokensWithSearches, type AskedSearch } from './provider-search.ts';

const search = (searchesMax: number): AskedSearch => ({
  searchesMax,
  price: { listPicos: 0n, upstreamPicos: 0n },
  billsResults: true,
  mayBeFewer: false,
  limitField: 'max_tool_calls',
});

test('without a search the input is the estimate, within the context', () => {
  assert.equal(inputTokensWithSearches(null, { promptTokens: 700, contextTokens: 1_000 }), 700);
  assert.equal(inputTokensWithSearches(null, { promptTokens: 7_000, contextTokens: 1_000 }), 1_000);
});

test('every search adds one more reading of the prompt and all results so far', () => {
  const size = { promptTokens: 500, contextTokens: 1_000_000 };
  assert.equal(inputTokensWithSearches(search(1), size), 500 + 10_500);
  assert.equal(inputTokensWithSearches(search(3), size), 500 + 10_500 + 20_500 + 30_500);
});

test('no round reads more than the context', () => {
  assert.equal(
    inputTokensWithSearches(search(3), { promptTokens: 500, contextTokens: 15_000 }),
    500 + 10_500 + 15_000 * 2,
  );
  assert.equal(
    inputTokensWithSearches(search(100), { promptTokens: 500_000, contextTokens: 1_000 }),
    101_000,
  );
});
