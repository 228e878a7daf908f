// A clock that a test moves by hand. Timers run in the order in which they are due, and whatever they cause, answers over the network
// included, has time to happen; no real time is waited for.
//
//   const clock = new TestClock();
//   const gateway = await startGateway(config, { clock });
//   await clock.advance(60_000);                          // everything due within a minute runs
//   await clock.advanceUntil(() => upstream.requests[1]); // moves on until it is there: for timers that are set by what is under way
//   await clock.skipWaits(gateway.post(path, options));   // ends every wait of the request at once
import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import type { CancelTimer, Clock, SharedTime } from '../../src/lib/clock.ts';

type Timer = { dueMs: number; readonly periodMs: number | null; readonly action: () => void };

/** Turns of the event loop between two moments: enough for promises and for sockets of this machine that are ready. */
const turnsBetween = 3;

export class TestClock implements Clock {
  /** The same time for other threads: the ledger's. */
  readonly shared: SharedTime = new BigInt64Array(new SharedArrayBuffer(8));
  readonly #timers = new Set<Timer>();
  /** Those of `#timers` that somebody sleeps until. */
  readonly #sleeps = new Set<Timer>();
  #nextSleep = Promise.withResolvers<void>();
  #startMs: number;
  #elapsedMs = 0;

  constructor(startMs = Date.UTC(2026, 10, 21, 12)) {
    this.#startMs = startMs;
    this.#moveTo(0);
  }

  readonly nowMs = (): number => Math.floor(this.#startMs + this.#elapsedMs);

  readonly elapsedMs = (): number => this.#elapsedMs;

  /** How many times `after` and `sleep` still wait for so many whole milliseconds: so a test sees that something has begun to. */
  dueIn(delayMs: number): number {
    const isDue = ({ periodMs, dueMs }: Timer) => periodMs === null && Math.floor(dueMs - this.#elapsedMs) === delayMs;
    return Array.from(this.#timers).filter(isDue).length;
  }

  /** How many sleep. */
  get sleeping(): number {
    return this.#sleeps.size;
  }

  after(delayMs: number, action: () => void): CancelTimer {
    return this.#add({ dueMs: this.#elapsedMs + delayMs, periodMs: null, action });
  }

  every(periodMs: number, action: () => void): CancelTimer {
    return this.#add({ dueMs: this.#elapsedMs + periodMs, periodMs, action });
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    // Nobody need move the clock for no time at all.
    if (signal?.aborted || delayMs <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        this.#timers.delete(timer);
        this.#sleeps.delete(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = { dueMs: this.#elapsedMs + delayMs, periodMs: null, action: end };
      this.#timers.add(timer);
      this.#sleeps.add(timer);
      this.#nextSleep.resolve();
      this.#nextSleep = Promise.withResolvers();
      signal?.addEventListener('abort', end, { once: true });
    });
  }

  /** Moves time forward and runs what becomes due, in order. */
  async advance(milliseconds: number): Promise<void> {
    const endMs = this.#elapsedMs + milliseconds;
    await takeTurns();
    for (let next = this.#nextUntil(endMs); next; next = this.#nextUntil(endMs)) {
      this.#run(next);
      await takeTurns();
    }
    this.#moveTo(Math.max(this.#elapsedMs, endMs));
  }

  /**
   * Moves time forward, `stepMs` at a time, until `look` returns something, which it then returns. Throws after `withinMs` of this clock.
   * A database answers in real time, while this clock runs on: where that matters, wait with `until`, then `advance`.
   */
  async advanceUntil<Value>(
    look: () => Value | Promise<Value>,
    { stepMs = 10, withinMs = 600_000 }: { readonly stepMs?: number; readonly withinMs?: number } = {},
  ): Promise<Exclude<Value, null | undefined | false>> {
    for (const endMs = this.#elapsedMs + withinMs; ; await this.advance(stepMs)) {
      const value = await look();
      if (value !== null && value !== undefined && value !== false) return value as Exclude<Value, null | undefined | false>;
      assert.ok(this.#elapsedMs < endMs, `it did not come within ${withinMs} ms of the test's clock: ${look.toString()}`);
    }
  }

  /**
   * Ends every `sleep` at its time until the promise settles; time stands still while nothing sleeps. For retries and their backoff, where a
   * request shall take no longer than it waits. Timeouts do not count as waits.
   */
  async skipWaits<Value>(promise: Promise<Value>): Promise<Value> {
    const state = { isPending: true };
    const settled = promise.then(
      () => (state.isPending = false),
      () => (state.isPending = false),
    );
    while (state.isPending) {
      const endMs = Math.min(...Array.from(this.#sleeps, ({ dueMs }) => dueMs));
      if (endMs === Infinity) await Promise.race([settled, this.#nextSleep.promise]);
      else await this.advance(Math.max(endMs - this.#elapsedMs, 0));
    }
    return promise;
  }

  /** Moves time forward until the promise settles: for what may wait for anything, and is of no interest, such as the end of a failed test. */
  async hurry<Value>(promise: Promise<Value>): Promise<Value> {
    const state = { isPending: true };
    const settle = () => (state.isPending = false);
    promise.then(settle, settle);
    while (state.isPending) await this.advance(1_000);
    return promise;
  }

  /** Sets the wall clock, also backwards, as an administrator would. Timers and `elapsedMs` do not notice. */
  jumpTo(nowMs: number): void {
    this.#startMs = nowMs - this.#elapsedMs;
    this.#moveTo(this.#elapsedMs);
  }

  #add(timer: Timer): CancelTimer {
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  #nextUntil(endMs: number): Timer | null {
    let next: Timer | null = null;
    for (const timer of this.#timers) if (timer.dueMs <= endMs && (!next || timer.dueMs < next.dueMs)) next = timer;
    return next;
  }

  #run(timer: Timer): void {
    this.#moveTo(Math.max(this.#elapsedMs, timer.dueMs));
    if (timer.periodMs === null) this.#timers.delete(timer);
    else timer.dueMs += timer.periodMs;
    timer.action();
  }

  #moveTo(elapsedMs: number): void {
    this.#elapsedMs = elapsedMs;
    Atomics.store(this.shared, 0, BigInt(this.nowMs()));
  }
}

/** A clock that moves on as soon as something sleeps: waits take no real time, and no load makes them longer than they say. */
export class HastyClock extends TestClock {
  override sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return signal?.aborted ? Promise.resolve() : this.advance(delayMs);
  }
}

/** Lets promises and ready sockets of this process come to their turn. */
export async function takeTurns(): Promise<void> {
  for (let turn = 0; turn < turnsBetween; turn++) await setImmediate();
}
