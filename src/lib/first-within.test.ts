import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstWithin } from './first-within.ts';

test('a step takes the items that fit, and at least one', () => {
  const cases: [sizes: number[], taken: number][] = [
    [[], 0],
    [[10], 1],
    [[11], 1],
    [[4, 6], 2],
    [[4, 7, 1], 1],
    [[20, 1], 1],
    [[1, 2, 3, 4, 5], 4],
  ];
  for (const [sizes, taken] of cases)
    assert.deepEqual(firstWithin(sizes, 10, Number), sizes.slice(0, taken));
});
