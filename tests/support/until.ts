// Waiting for what a gateway does in its own time: its log, its books, the changes that it follows.
import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import type { TestClock } from './test-clock.ts';

type Found<Value> = Exclude<Value, null | undefined | false>;

/** What `look` returns as soon as that is something, asked every 10 ms. Throws when it takes longer: a test that waits for ever tells nothing. */
export async function until<Value>(look: () => Value | Promise<Value>, withinMs = 60_000): Promise<Found<Value>> {
  for (const startMs = performance.now(); ; await setTimeout(10)) {
    const value = await look();
    if (value !== null && value !== undefined && value !== false) return value as Found<Value>;
    assert.ok(performance.now() - startMs < withinMs, `it did not come within ${withinMs} ms: ${look.toString()}`);
  }
}

/**
 * As `until`, of a change that a gateway looks for in its database once a second of its clock: that goes on by a second, and by one more
 * whenever the database, which answers in real time, has not told of the change for a while.
 */
export function untilNoticed<Value>(clock: TestClock, look: () => Value | Promise<Value>): Promise<Found<Value>> {
  let looks = 0;
  return until(async () => {
    if (looks++ % 50 === 0) await clock.advance(1_000);
    return look();
  });
}

/** Waits for what a gateway and its database do together: the clock goes on meanwhile, so slowly that no answer comes too late by it. */
export async function whileTimePasses<Value>(clock: TestClock, promise: Promise<Value>): Promise<Value> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  await until(async () => {
    await clock.advance(2);
    return isSettled;
  });
  return promise;
}
