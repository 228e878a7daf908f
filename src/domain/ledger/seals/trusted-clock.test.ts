import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClockLooks, doubtMs, lookAtClock } from './trusted-clock.ts';

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 10, 21);
const trusted: ClockLooks = { trustedMs: startMs, doubtedSinceMs: null, doubtedAtMs: null };
const isTrusted = (looks: ClockLooks, nowMs: number) => looks.trustedMs === nowMs;

test('a clock that goes on, stands still or goes back is trusted', () => {
  for (const ms of [hourMs, 0, -100 * hourMs, 3 * hourMs]) {
    const looks = lookAtClock(trusted, startMs + ms);
    assert.ok(isTrusted(looks, startMs + ms), String(ms));
  }
});

test('a clock that jumps hours ahead is trusted after looks over many hours', () => {
  let nowMs = startMs + 23 * hourMs;
  const jumpedMs = nowMs;
  let looks = lookAtClock(trusted, nowMs);
  while (!isTrusted(looks, nowMs)) {
    assert.ok(nowMs - jumpedMs < doubtMs);
    nowMs += hourMs;
    looks = lookAtClock(looks, nowMs);
  }
  assert.equal(nowMs - jumpedMs, doubtMs);
});

test('a second jump, or a long pause, begins the doubt again', () => {
  const jumpedMs = startMs + 30 * 24 * hourMs;
  let looks = lookAtClock(trusted, jumpedMs);
  looks = lookAtClock(looks, jumpedMs + doubtMs + hourMs);
  assert.equal(looks.doubtedSinceMs, jumpedMs + doubtMs + hourMs);
  assert.equal(looks.trustedMs, startMs);
});

test('a clock that was ahead for a while is trusted again at once when it is right', () => {
  const looks = lookAtClock(lookAtClock(trusted, startMs + 400 * 24 * hourMs), startMs + hourMs);
  assert.deepEqual(looks, { ...trusted, trustedMs: startMs + hourMs });
});

test('the first clock of a database is not trusted at once', () => {
  const first = { trustedMs: null, doubtedSinceMs: null, doubtedAtMs: null };
  assert.ok(!isTrusted(lookAtClock(first, startMs), startMs));
});
