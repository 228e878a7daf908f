import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { picosFromUsdPerMillion } from '../../lib/money.ts';
import { readPrices } from './read-prices.ts';

const usd = fc.integer({ min: 0, max: 100_000 }).map((thousandths) => thousandths / 1_000);
const prices = fc.record(
  { input: usd, output: usd, cache_read: usd, cache_write: usd, cache_write_1h: usd },
  { requiredKeys: ['input', 'output'] },
);
const priced = fc.tuple(
  prices,
  fc.uniqueArray(fc.integer({ min: 1, max: 1_000 }), { maxLength: 3 }),
  fc.array(prices),
);

describe('a one-hour cache write', () => {
  test('without its own price costs twice the input, and at least a short write, in every tier', () => {
    fc.assert(
      fc.property(priced, ([base, thresholds, others]) => {
        const tiers = thresholds.map((above, index) => ({
          above_input_tokens: above,
          ...(others[index] ?? base),
        }));
        const [read] = readPrices({ prices: { ...base, tiers } }, false);
        const pairs = [
          [base, read!.base] as const,
          ...tiers.map((tier, index) => [tier, read!.tiers[index]!.prices] as const),
        ];
        for (const [written, { input, cacheWrite, cacheWrite1h }] of pairs) {
          const own = written.cache_write_1h;
          if (own === undefined) assert.equal(cacheWrite1h, Math.max(2 * input, cacheWrite));
          else assert.equal(cacheWrite1h, picosFromUsdPerMillion(own));
        }
      }),
    );
  });
});
