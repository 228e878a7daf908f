import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countAttempt, usualLimit } from './attempts.ts';

const { free: freeAttempts, windowMs } = usualLimit;
const begin = { count: 0, startedAtMs: 0, blockedUntilMs: 0 };

function afterAttempts(count: number) {
  let state = begin;
  for (let index = 0; index < count; index++)
    state = countAttempt(state, Math.max(1, state.blockedUntilMs));
  return state;
}

test('the tenth attempt starts the first wait', () => {
  assert.equal(afterAttempts(freeAttempts - 1).blockedUntilMs, 0);
  assert.equal(afterAttempts(freeAttempts).blockedUntilMs, 30_001);
});

test('each further wait doubles, up to 15 minutes', () => {
  const waits = [0, 1, 2, 3, 4, 5, 20].map((more) => {
    const before = afterAttempts(freeAttempts + more - 1);
    const after = countAttempt(before, Math.max(1, before.blockedUntilMs));
    return (after.blockedUntilMs - Math.max(1, before.blockedUntilMs)) / 1_000;
  });
  assert.deepEqual(waits, [30, 60, 120, 240, 480, 900, 900]);
});

test('the count restarts after 15 minutes without an attempt', () => {
  const blocked = afterAttempts(freeAttempts + 2);
  assert.equal(
    countAttempt(blocked, blocked.blockedUntilMs + windowMs - 1).count,
    freeAttempts + 3,
  );
  assert.deepEqual(countAttempt(blocked, blocked.blockedUntilMs + windowMs), {
    count: 1,
    startedAtMs: blocked.blockedUntilMs + windowMs,
    blockedUntilMs: 0,
  });
});
