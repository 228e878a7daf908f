import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { fullestOf, type CapState } from '../../domain/ledger/commands.ts';
import { micros } from '../../lib/money.ts';
import { spendNotice } from './spend-notice.ts';

const prefix = 'anthropic-ratelimit-unified-';
const cap = fc
  .record({
    window: fc.constantFrom('day' as const, 'month' as const),
    capMicros: fc.integer({ min: 0, max: 1e15 }),
    spentMicros: fc.integer({ min: 0, max: 1e15 }),
    resetsAtMs: fc.integer({ min: 0, max: 4e12 }),
  })
  .map((fields): CapState => ({
    ...fields,
    capMicros: micros(fields.capMicros),
    spentMicros: micros(fields.spentMicros),
  }));

test('the part that is used stays below 1, and the warning names the highest threshold that it passed', () => {
  fc.assert(
    fc.property(cap, (state) => {
      const headers = spendNotice(state);
      if (state.capMicros === 0) return assert.deepEqual(headers, {});
      const used = Number(headers[`${prefix}overage-utilization`]);
      const exact = state.spentMicros / state.capMicros;
      assert.ok(used < 1 && used <= exact && (used === 0.99 || exact - used < 0.011), String(used));
      const surpassed = headers[`${prefix}overage-surpassed-threshold`];
      assert.equal(surpassed, used >= 0.95 ? '0.95' : used >= 0.75 ? '0.75' : undefined);
      const status = surpassed === undefined ? 'allowed' : 'allowed_warning';
      assert.equal(headers[`${prefix}status`], status);
      assert.equal(headers[`${prefix}overage-status`], status);
      assert.match(headers[`${prefix}reset`]!, /^\d+$/);
    }),
  );
});

test('of several caps the fullest is told, and of equal ones the one that resets last', () => {
  fc.assert(
    fc.property(fc.array(cap, { minLength: 1 }), (caps) => {
      const fullest = fullestOf(caps)!;
      const part = ({ capMicros, spentMicros }: CapState) =>
        capMicros === 0 ? 1 : spentMicros / capMicros;
      for (const other of caps) {
        assert.ok(part(fullest) >= part(other));
        if (part(fullest) === part(other)) assert.ok(fullest.resetsAtMs >= other.resetsAtMs);
      }
    }),
  );
  assert.equal(fullestOf([]), undefined);
  assert.deepEqual(spendNotice(undefined), {});
});
