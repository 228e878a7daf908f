import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { micros, microsFromUsd } from '../../lib/money.ts';
import { cardFeeMicros } from './card-fee.ts';

const usd = (dollars: number, fee: { percent: number; fixedCents: number }) =>
  cardFeeMicros(microsFromUsd(dollars), fee) / 1_000_000;

test('a fee is the percentage, rounded up to a whole cent, plus the fixed part', () => {
  assert.equal(usd(10, { percent: 2.9, fixedCents: 30 }), 0.59);
  assert.equal(usd(10.01, { percent: 2.9, fixedCents: 30 }), 0.6);
  assert.equal(usd(100, { percent: 1.5, fixedCents: 0 }), 1.5);
  assert.equal(usd(5, { percent: 0, fixedCents: 25 }), 0.25);
  assert.equal(usd(0.5, { percent: 0.0001, fixedCents: 0 }), 0.01);
  assert.equal(usd(999_999, { percent: 0, fixedCents: 0 }), 0);
});

test('every fee is whole cents, less than a cent above the exact fee, and never falls as the amount grows', () => {
  const fees = fc.record({ parts: fc.nat(500_000), fixedCents: fc.nat(10_000) });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 99_999_900 }), fees, (cents, { parts, fixedCents }) => {
      const fee = { percent: parts / 10_000, fixedCents };
      const feeMicros = cardFeeMicros(micros(cents * 10_000), fee);
      assert.equal(feeMicros % 10_000, 0);
      const excess =
        BigInt(feeMicros / 10_000 - fixedCents) * 1_000_000n - BigInt(cents) * BigInt(parts);
      assert.ok(excess >= 0n && excess < 1_000_000n, String(excess));
      assert.ok(cardFeeMicros(micros((cents + 1) * 10_000), fee) >= feeMicros);
    }),
  );
});
