import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rangeOf } from './ranges.ts';

test('ranges are whole UTC days that end today', () => {
  const now = new Date('2026-03-02T00:30:00.000Z');
  const to = '2026-03-02';
  assert.deepEqual(rangeOf('today', now), { from: to, to });
  assert.deepEqual(rangeOf('7d', now), { from: '2026-02-24', to });
  assert.deepEqual(rangeOf('30d', now), { from: '2026-02-01', to });
  assert.deepEqual(rangeOf('month', now), { from: '2026-03-01', to });
});
