import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countOne, freeAttempts, windowMs } from './attempts.ts';

const begin = { count: 0, startedAtMs: 0, blockedUntilMs: 0 };

function afterTries(count: number) {
  let state = begin;
  for (let index = 0; index < count; index++) state = countOne(state, Math.max(1, state.blockedUntilMs));
  return state;
}

test('ten tries are free, and the tenth is followed by the first wait', () => {
  assert.equal(afterTries(freeAttempts - 1).blockedUntilMs, 0);
  assert.equal(afterTries(freeAttempts).blockedUntilMs, 30_001);
});

test('each further wait is twice as long, up to a quarter of an hour', () => {
  const waits = [0, 1, 2, 3, 4, 5, 20].map((more) => {
    const before = afterTries(freeAttempts + more - 1);
    const after = countOne(before, Math.max(1, before.blockedUntilMs));
    return (after.blockedUntilMs - Math.max(1, before.blockedUntilMs)) / 1_000;
  });
  assert.deepEqual(waits, [30, 60, 120, 240, 480, 900, 900]);
});

test('a quarter of an hour without a try forgets', () => {
  const blocked = afterTries(freeAttempts + 2);
  assert.equal(countOne(blocked, blocked.blockedUntilMs + windowMs - 1).count, freeAttempts + 3);
  assert.deepEqual(countOne(blocked, blocked.blockedUntilMs + windowMs), {
    count: 1,
    startedAtMs: blocked.blockedUntilMs + windowMs,
    blockedUntilMs: 0,
  });
});
