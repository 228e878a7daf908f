import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import {
  floorToCents,
  formatUsd,
  micros,
  microsFromUsd,
  picosFromUsdPerMillion,
  roundUpToMicro,
} from './money.ts';

test('dollars convert to microdollars and back unchanged', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e14, max: 1e14 }), (value) => {
      assert.equal(microsFromUsd(formatUsd(micros(value))), value);
    }),
  );
});

test('text that is not a number, or finer than a microdollar, is refused', () => {
  for (const text of ['', 'ten', '1,5', '0.0000001', '1e3', 'NaN', '--1', '$5'])
    assert.throws(() => microsFromUsd(text), RangeError);
  assert.throws(() => microsFromUsd(Number.NaN), RangeError);
  assert.equal(microsFromUsd(5), 5_000_000);
  assert.equal(microsFromUsd('0.000001'), 1);
  assert.equal(microsFromUsd(0.000001), 1);
  assert.equal(microsFromUsd('12.340000000'), 12_340_000);
});

test('a charge is rounded up, by less than one microdollar', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 20n }), (picos) => {
      const rounded = BigInt(roundUpToMicro(picos)) * 1_000_000n;
      assert.ok(rounded >= picos && rounded - picos < 1_000_000n);
    }),
  );
});

test('prices are exact to the picodollar, and cents are rounded down', () => {
  assert.equal(picosFromUsdPerMillion(0.038), 38_000);
  assert.equal(picosFromUsdPerMillion(2.5), 2_500_000);
  assert.throws(() => picosFromUsdPerMillion(-1), RangeError);
  assert.equal(floorToCents(micros(12_349_999)), 1234);
  assert.equal(floorToCents(micros(-1)), -1);
});
