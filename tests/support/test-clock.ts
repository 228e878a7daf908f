// A clock that a test moves by hand. Timers run in due order, and all their effects, including
// answers over the network, have time to happen. No real time is waited for.
//
//   const clock = new TestClock();
//   const gateway = await startGateway(config, { clock });
//   await clock.advance(60_000);                          // runs all timers due within a minute
//   await clock.advanceUntil(() => upstream.requests[1]); // moves on until it exists
//   await clock.skipWaits(gateway.post(path, options));   // ends the request's waits at once
import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import type { CancelTimer, Clock, SharedTime } from '../../src/lib/clock.ts';

type Timer = { dueMs: number; readonly periodMs: number | null; readonly action: () => void };

/**
 * Event loop turns between two moments: enough for promises and for ready sockets of this machine.
 */
const turnsBetween = 3;
/**
 * A periodic timer runs less often while a move's end is far, as it would on a busy machine: an hour has
 * 3,600 looks at the database otherwise. Leases end after 40 s without a renewal.
 */
const farMs = 20_000;
const farPeriodMs = 5_000;

export class TestClock implements Clock {
  /** The same time for other threads, such as the ledger's. */
  readonly shared: SharedTime = new BigInt64Array(new SharedArrayBuffer(8));
  readonly #timers = new Set<Timer>();
  /** The timers of `sleep` calls. */
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

  /**
   * The number of `after` and `sleep` calls that still wait for this many whole milliseconds. Shows
   * a test that a wait has begun.
   */
  dueIn(delayMs: number): number {
    const isDue = ({ periodMs, dueMs }: Timer) =>
      periodMs === null && Math.floor(dueMs - this.#elapsedMs) === delayMs;
    return Array.from(this.#timers).filter(isDue).length;
  }

  /** The number of pending `sleep` calls. */
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
    // A wait of zero needs no clock.
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

  /** Moves time forward and runs due timers in order. */
  async advance(milliseconds: number): Promise<void> {
    const endMs = this.#elapsedMs + milliseconds;
    await flushEventLoop();
    for (let next = this.#nextUntil(endMs); next; next = this.#nextUntil(endMs)) {
      this.#run(next, endMs);
      await flushEventLoop();
    }
    this.#moveTo(Math.max(this.#elapsedMs, endMs));
  }

  /**
   * Moves time forward, `stepMs` at a time, until `look` returns something. Returns that; throws
   * after `withinMs` of this clock. A database answers in real time while this clock runs on: if
   * that matters, use `until`, then `advance`.
   */
  async advanceUntil<Value>(
    look: () => Value | Promise<Value>,
    {
      stepMs = 10,
      withinMs = 600_000,
    }: { readonly stepMs?: number; readonly withinMs?: number } = {},
  ): Promise<Exclude<Value, null | undefined | false>> {
    for (const endMs = this.#elapsedMs + withinMs; ; await this.advance(stepMs)) {
      const value = await look();
      if (value !== null && value !== undefined && value !== false)
        return value as Exclude<Value, null | undefined | false>;
      assert.ok(
        this.#elapsedMs < endMs,
        `it did not come within ${withinMs} ms of the test's clock: ${look.toString()}`,
      );
    }
  }

  /**
   * Ends every `sleep` at its due time until the promise settles. Time stands still while nothing
   * sleeps. For retries and their backoff, where a request takes only as long as its waits.
   * Timeouts are not waits.
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

  /**
   * Moves time forward until the promise settles, whatever it waits for. For steps that the test
   * does not examine, such as the end of a failed test.
   */
  async hurry<Value>(promise: Promise<Value>): Promise<Value> {
    const state = { isPending: true };
    const settle = () => (state.isPending = false);
    promise.then(settle, settle);
    while (state.isPending) await this.advance(1_000);
    return promise;
  }

  /**
   * Sets the wall clock, also backwards, as an administrator could. Timers and `elapsedMs` are not
   * affected.
   */
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
    for (const timer of this.#timers)
      if (timer.dueMs <= endMs && (!next || timer.dueMs < next.dueMs)) next = timer;
    return next;
  }

  #run(timer: Timer, endMs: number): void {
    this.#moveTo(Math.max(this.#elapsedMs, timer.dueMs));
    if (timer.periodMs === null) this.#timers.delete(timer);
    else {
      const isFar = endMs - timer.dueMs > farMs;
      timer.dueMs += isFar ? Math.max(timer.periodMs, farPeriodMs) : timer.periodMs;
    }
    timer.action();
  }

  #moveTo(elapsedMs: number): void {
    this.#elapsedMs = elapsedMs;
    Atomics.store(this.shared, 0, BigInt(this.nowMs()));
  }
}

/**
 * A clock that advances as soon as something sleeps: waits take no real time, and load does not
 * lengthen them.
 */
export class SleeplessClock extends TestClock {
  override sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return signal?.aborted ? Promise.resolve() : this.advance(delayMs);
  }
}

/** Lets promises and ready sockets of this process run. */
export async function flushEventLoop(): Promise<void> {
  for (let turn = 0; turn < turnsBetween; turn++) await setImmediate();
}
