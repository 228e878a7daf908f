import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import type { PicosPerToken } from '../lib/money.ts';
import { costOf, keepPrice, readKeptTerms, type UnitPrices } from './price-terms.ts';
import { noUsage } from '../canonical/usage.ts';

const price = fc.maxSafeNat() as fc.Arbitrary<PicosPerToken>;
const units: fc.Arbitrary<UnitPrices> = fc.record(
  {
    input: price,
    output: price,
    cacheRead: price,
    cacheWrite: price,
    cacheWrite1h: price,
    search: fc.bigInt({ min: 0n, max: 10n ** 15n }),
    image: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 10n ** 15n })),
    request: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 10n ** 15n })),
  },
  { noNullPrototype: true },
);

test('terms are kept and read back exactly, and equal ones have one id', () => {
  fc.assert(
    fc.property(units, units, (list, upstream) => {
      const kept = keepPrice({ list, upstream });
      assert.deepEqual(readKeptTerms(kept.terms), { list, upstream });
      assert.deepEqual(keepPrice(readKeptTerms(kept.terms)), kept);
    }),
  );
});

test('the parts of a request are added exactly and rounded up once', () => {
  const third = {
    input: 1,
    output: 1,
    cacheRead: 1,
    cacheWrite: 1,
    cacheWrite1h: 1,
    search: 2_999_995n,
    image: 1_000_000n,
    request: 0n,
  } as unknown as UnitPrices;
  const usage = {
    ...noUsage,
    inputTokens: 1,
    cacheReadTokens: 1,
    cacheWriteTokens: 1,
    cacheWrite1hTokens: 1,
    outputTokens: 1,
  };
  assert.equal(costOf(third, { usage, searches: 0, images: 0 }), 1);
  assert.equal(costOf(third, { usage, searches: 1, images: 0 }), 3);
  assert.equal(costOf(third, { usage: { ...usage, outputTokens: 2 }, searches: 1, images: 0 }), 4);
  assert.equal(costOf(third, { usage, searches: 1, images: 2 }), 5);
  assert.equal(
    costOf({ ...third, request: 5_000_001n }, { usage, searches: 1, images: 0 }),
    9,
    'a request once',
  );
});

test('terms of charges from before there were images are read as they were written', () => {
  const six = ['1', '2', '3', '4', '5', '6'];
  const terms = JSON.stringify({ list: six, upstream: six });
  const read = readKeptTerms(terms);
  assert.deepEqual([read.list.image, read.list.request], [0n, 0n]);
  assert.equal(keepPrice(read).terms, terms);
});
