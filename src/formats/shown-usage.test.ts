import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shownUsage } from './shown-usage.ts';

test('the provider’s price is not shown', () => {
  assert.deepEqual(
    shownUsage({ prompt_tokens: 3, cost: 0.1, cost_details: { upstream: 0.1 }, queue_time: 0.25 }),
    { prompt_tokens: 3, queue_time: 0.25 },
  );
});

test('a count below 0 is shown as 0, at any depth', () => {
  assert.deepEqual(
    shownUsage({ input_tokens: -1, input_tokens_details: { cached_tokens: -500, text: 'a' } }),
    { input_tokens: 0, input_tokens_details: { cached_tokens: 0, text: 'a' } },
  );
});

test('what is no count of tokens is shown as 0', () => {
  const written = { a_tokens: 0.5, b_tokens: '12', c_tokens: { a: 1 }, d_tokens: 1e9 };
  const shown = { a_tokens: 0, b_tokens: 0, c_tokens: 0, d_tokens: 0 };
  const right = { e_tokens: null, f_tokens: 7, tokens_per_second: 0.5 };
  assert.deepEqual(shownUsage({ details: { ...written, ...right } }), {
    details: { ...shown, ...right },
  });
});

test('a usage that needs no change stays the same object', () => {
  const usage = { input_tokens: 1, details: { cached_tokens: 0 }, tier: null, iterations: [-1] };
  assert.equal(shownUsage(usage), usage);
  assert.equal(shownUsage(null), null);
});

test('each level of a nested usage is looked at once', () => {
  let reads = 0;
  const deepest = {
    get a_tokens() {
      reads++;
      return -1;
    },
  };
  shownUsage(Array.from({ length: 20 }).reduce((inner) => ({ inner }), deepest));
  assert.equal(reads, 2);
});
