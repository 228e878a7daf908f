import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelsApart, linePath, lonePlaces, pointAt, ticksOf } from './layout.ts';

test('ticks are round, whole, and enclose zero and all values', () => {
  assert.deepEqual(ticksOf([3, 97]), [0, 50, 100]);
  assert.deepEqual(ticksOf([1_700, 900]), [0, 500, 1_000, 1_500, 2_000]);
  assert.deepEqual(ticksOf([-30, 100]), [-50, 0, 50, 100]);
  assert.deepEqual(ticksOf([2]), [0, 1, 2]);
  assert.deepEqual(ticksOf([0]), [0, 1]);
});

test('a place outside the columns belongs to the first or last point', () => {
  const columns = { left: 50, step: 10, count: 3 };
  assert.deepEqual(
    [0, 50, 61, 79, 300].map((x) => pointAt(x, columns)),
    [0, 0, 1, 2, 2],
  );
  assert.equal(labelsApart(columns, 56), 6);
});

test('a line is interrupted where nothing was measured, and a lone point is kept', () => {
  const [one, other, lone] = [1, 2, 4].map((x) => ({ x, y: 0 }));
  const places = [one!, other!, null, lone!];
  assert.equal(linePath(places), 'M1 0L2 0M4 0');
  assert.deepEqual(lonePlaces(places), [lone]);
});
