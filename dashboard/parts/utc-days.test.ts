import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daysBefore, daysIn, isComparable, lastDays, readRange } from './utc-days.ts';

const nowMs = Date.UTC(2026, 2, 1, 0, 30);

test('days are in UTC and include today', () => {
  assert.deepEqual(lastDays(1, nowMs), { from: '2026-03-01', to: '2026-03-01' });
  assert.deepEqual(lastDays(7, nowMs), { from: '2026-02-23', to: '2026-03-01' });
});

test('a range is read from the address, and invalid values are ignored', () => {
  const read = (search: Record<string, string>) => readRange(search, nowMs, ['7', '30', 'month']);
  const chosen = { from: '2026-01-01', to: '2026-01-31' };
  assert.deepEqual(read(chosen), { range: chosen, preset: null });
  assert.deepEqual(read({ days: '7' }), { range: lastDays(7, nowMs), preset: '7' });
  assert.deepEqual(read({ days: 'month' }), { range: lastDays(1, nowMs), preset: 'month' });
  const usual = { range: lastDays(30, nowMs), preset: '30' };
  for (const search of [
    {},
    { days: '8' },
    { days: '90' },
    { from: '2026-01-01' },
    { from: '2026-02-01', to: '2026-01-01' },
    { from: '2026-02-30', to: '2026-03-01' },
  ] as Record<string, string>[])
    assert.deepEqual(read(search), usual);
});

test('days are compared with as many before, if charges began before those', () => {
  const range = { from: '2026-03-01', to: '2026-03-02' };
  assert.deepEqual(daysIn(range), ['2026-03-01', '2026-03-02']);
  assert.deepEqual(daysBefore(range), { from: '2026-02-27', to: '2026-02-28' });
  assert.deepEqual(
    [null, '2026-02-28', '2026-02-27', '2025-01-01'].map((began) => isComparable(range, began)),
    [false, false, true, true],
  );
});
