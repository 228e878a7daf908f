import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesOf } from './audit-changes.ts';

test('each field shows its values before and after', () => {
  assert.deepEqual(
    changesOf({ name: 'a', requests_per_minute: 1 }, { name: 'b', requests_per_minute: null }),
    [
      { field: 'name', before: 'a', after: 'b' },
      { field: 'requests per minute', before: '1', after: 'none' },
    ],
  );
  assert.deepEqual(changesOf({ role: 'admin' }, null), [
    { field: 'role', before: 'admin', after: null },
  ]);
  assert.deepEqual(changesOf(null, null), []);
});

test('money, multipliers and switches are formatted for reading', () => {
  assert.deepEqual(
    changesOf(null, {
      amount_micros: -1_500_000,
      price_multiplier_ppm: 900_000,
      frozen: true,
      models: ['x'],
    }),
    [
      { field: 'amount', before: null, after: '−$1.50' },
      { field: 'price multiplier', before: null, after: '×0.9' },
      { field: 'frozen', before: null, after: 'yes' },
      { field: 'models', before: null, after: '["x"]' },
    ],
  );
});

test('empty fields of a new object are left out', () => {
  assert.deepEqual(
    changesOf(null, { name: 'a', daily_cap_micros: null, model_multipliers_ppm: {} }),
    [{ field: 'name', before: null, after: 'a' }],
  );
});
