import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cardFeeMicros, partsPerMillion } from '../../src/domain/billing/card-fee.ts';
import { micros } from '../../src/lib/money.ts';
import fc from '../support/property.ts';
import { feeMicros } from '../../dashboard/pages/billing/top-up-amount.ts';

test('the fee shown equals the fee charged', () => {
  const fees = fc.record({
    percent: fc.nat(500_000).map((parts) => parts / 10_000),
    fixedCents: fc.nat(10_000),
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 99_999_900 }), fees, (cents, { percent, fixedCents }) => {
      const shown = feeMicros(cents * 10_000, {
        ppm: partsPerMillion(percent),
        fixed_micros: fixedCents * 10_000,
      });
      assert.equal(shown, cardFeeMicros(micros(cents * 10_000), { percent, fixedCents }));
    }),
  );
});
