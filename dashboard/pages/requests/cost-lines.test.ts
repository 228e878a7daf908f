import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UsageDetail } from '../../../src/management/contract/usage.ts';
import { fineUsdText } from '../../parts/money-text.ts';
import { costsOf } from './cost-lines.ts';

const price = {
  input_micros: 250_000,
  cache_read_micros: 25_000,
  cache_write_micros: 0,
  cache_write_1h_micros: 0,
  output_micros: 2_000_000,
  web_search_micros: 10_000,
  image_micros: 0,
  request_micros: 0,
};
const detail = {
  tokens: { input: 2, cache_read: 3, cache_write: 0, cache_write_1h: 0, output: 32, reasoning: 0 },
  images: 0,
  web_searches: 1,
  price,
  cost_micros: 10_065,
  loss_micros: 0,
} as unknown as UsageDetail;

test('the lines of a charge and the rounding add up to it', () => {
  const costs = costsOf(detail)!;
  assert.deepEqual(
    costs.lines.map(({ name, amountMicros }) => [name, amountMicros]),
    [
      ['Input', 0.5],
      ['Cached input', 0.075],
      ['Output', 64],
      ['Web searches', 10_000],
    ],
  );
  const sum = costs.lines.reduce((total, { amountMicros }) => total + amountMicros, 0);
  assert.ok(Math.abs(sum + costs.roundingMicros - detail.cost_micros) < 1e-6);
  assert.ok(costs.roundingMicros >= 0 && costs.roundingMicros < 1);
});

test('a charge whose cost exceeded the balance adds up to the whole cost', () => {
  const costs = costsOf({ ...detail, cost_micros: 65, loss_micros: 10_000 })!;
  assert.ok(costs.roundingMicros < 1);
  assert.equal(costsOf({ ...detail, price: null }), null);
});

test('amounts below a microdollar keep nine decimals', () => {
  assert.equal(fineUsdText(0.5), '$0.0000005');
  assert.equal(fineUsdText(0.075), '$0.000000075');
  assert.equal(fineUsdText(12_500_000), '$12.50');
});
