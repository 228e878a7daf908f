import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countAttempt, usualLimit } from './attempts.ts';

const { free: freeAttempts, windowMs } = usualLimit;
const begin = { count: 0, started_at_ms: 0, blocked_until_ms: 0 };

function afterAttempts(count: number) {
  let state = begin;
  for (let index = 0; index < count; index++)
    state = countAttempt(state, Math.max(1, state.blocked_until_ms));
  return state;
}

test('the tenth attempt starts the first wait', () => {
  assert.equal(afterAttempts(freeAttempts - 1).blocked_until_ms, 0);
  assert.equal(afterAttempts(freeAttempts).blocked_until_ms, 30_001);
});

test('each further wait doubles, up to 15 minutes', () => {
  const waits = [0, 1, 2, 3, 4, 5, 20].map((more) => {
    const before = afterAttempts(freeAttempts + more - 1);
    const after = countAttempt(before, Math.max(1, before.blocked_until_ms));
    return (after.blocked_until_ms - Math.max(1, before.blocked_until_ms)) / 1_000;
  });
  assert.deepEqual(waits, [30, 60, 120, 240, 480, 900, 900]);
});

test('the count restarts after 15 minutes without an attempt', () => {
  const blocked = afterAttempts(freeAttempts + 2);
  assert.equal(
    countAttempt(blocked, blocked.blocked_until_ms + windowMs - 1).count,
    freeAttempts + 3,
  );
  assert.deepEqual(countAttempt(blocked, blocked.blocked_until_ms + windowMs), {
    count: 1,
    started_at_ms: blocked.blocked_until_ms + windowMs,
    blocked_until_ms: 0,
  });
});
