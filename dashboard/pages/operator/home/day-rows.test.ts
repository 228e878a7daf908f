import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayRows } from './day-rows.ts';

const row = (id: string, revenue: number) => ({
  id,
  revenue_micros: revenue,
  cost_micros: revenue / 2,
  margin_micros: revenue / 2,
});

test('each day stands beside the one as many days earlier, and days without charges are zero', () => {
  const range = { from: '2026-03-01', to: '2026-03-02' };
  assert.deepEqual(dayRows(range, [row('2026-03-02', 8)], [row('2026-02-27', 6)]), [
    { day: '2026-03-01', revenue: 0, cost: 0, margin: 0, before: 6 },
    { day: '2026-03-02', revenue: 8, cost: 4, margin: 4, before: 0 },
  ]);
});
