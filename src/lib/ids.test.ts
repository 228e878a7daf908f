import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId, newIdWithPrefix } from './ids.ts';

test('ids are 26 characters, unique, and sort as they were made', () => {
  const ids = Array.from({ length: 5000 }, () => newId());
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) assert.match(id, /^[0-9a-hjkmnp-tv-z]{26}$/);
  const ofOneMs = Array.from({ length: 1_000 }, () => newId(7));
  assert.deepEqual(ofOneMs.toSorted(), ofOneMs);
  const times = [0, 1, 1_000, 1_763_683_200_000, 1_763_683_200_001, 2 ** 48 - 1];
  const byTime = times.map((time) => newId(time));
  assert.deepEqual(byTime.toSorted(), byTime);
  assert.match(newIdWithPrefix('acc'), /^acc_[0-9a-z]{26}$/);
});
