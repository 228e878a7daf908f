// Waits for what a gateway does in its own time, such as its log and its books.
import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import type { TestClock } from './test-clock.ts';

type Found<Value> = Exclude<Value, null | undefined | false>;

/**
 * Polls `look` until it returns something, and returns that: every `paceMs`, and less often if a look
 * takes long, so that looks take a quarter of the time at most. Throws after `withinMs`, because a test
 * that waits forever reports nothing. Only a hang should take so long.
 */
export async function until<Value>(
  look: () => Value | Promise<Value>,
  withinMs = 240_000,
  paceMs = 10,
): Promise<Found<Value>> {
  for (const startMs = performance.now(); ;) {
    const lookedMs = performance.now();
    const value = await look();
    if (value !== null && value !== undefined && value !== false) return value as Found<Value>;
    assert.ok(
      performance.now() - startMs < withinMs,
      `it did not come within ${withinMs} ms: ${look.toString()}`,
    );
    await setTimeout(Math.max(paceMs, Math.min(250, 3 * (performance.now() - lookedMs))));
  }
}

/**
 * Like `until`, for what a gateway does in turns, such as a look at its database once a second.
 * Moves the clock by `turnMs`, and once more whenever a database or a receiver, which answers in
 * real time, has not answered for a while.
 */
export function untilNoticed<Value>(
  clock: TestClock,
  look: () => Value | Promise<Value>,
  turnMs = 1_000,
): Promise<Found<Value>> {
  let looks = 0;
  return until(async () => {
    if (looks++ % 50 === 0) await clock.advance(turnMs);
    return look();
  });
}

/**
 * Waits for work of a gateway and its database. By default, the clock moves so slowly meanwhile that no
 * timeout overtakes an answer.
 */
export async function whileTimePasses<Value>(
  clock: TestClock,
  promise: Promise<Value>,
  stepMs = 2,
): Promise<Value> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  await until(async () => {
    await clock.advance(stepMs);
    return isSettled;
  });
  return promise;
}
