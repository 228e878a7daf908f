// The clock, passed in everywhere: production uses `systemClock`; tests move a clock by hand.
import { setTimeout as sleepFor } from 'node:timers/promises';

export type Clock = {
  /** Milliseconds since 1970. May go back when the system time is set. */
  readonly nowMs: () => number;
  /** Monotonic milliseconds from an arbitrary origin, for durations and deadlines. */
  readonly elapsedMs: () => number;
  /** Calls `action` once, unless cancelled before. Does not keep the process alive. */
  readonly after: (delayMs: number, action: () => void) => CancelTimer;
  /** Calls `action` periodically until cancelled. Does not keep the process alive. */
  readonly every: (periodMs: number, action: () => void) => CancelTimer;
  /** Resolves after the delay or when the signal aborts. Never rejects. Keeps the process alive. */
  readonly sleep: (delayMs: number, signal?: AbortSignal) => Promise<void>;
};

export type CancelTimer = () => void;

export const systemClock: Clock = {
  nowMs: Date.now,
  elapsedMs: () => performance.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs).unref();
    return () => clearTimeout(timer);
  },
  every(periodMs, action) {
    const timer = setInterval(action, periodMs).unref();
    return () => clearInterval(timer);
  },
  sleep: (delayMs, signal) => sleepFor(delayMs, undefined, { signal }).catch(() => {}),
};

/** Resolves after the delay. Does not keep the process alive. */
export function timeLimit(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(delayMs, resolve);
  });
}

export function abortAfter(clock: Clock, delayMs: number): AbortSignal {
  const controller = new AbortController();
  clock.after(delayMs, () => controller.abort());
  return controller.signal;
}

/** Milliseconds since 1970 in shared memory, readable by several threads. Tests move it. */
export type SharedTime = BigInt64Array<SharedArrayBuffer>;

export function readSharedTime(time: SharedTime): number {
  return Number(Atomics.load(time, 0));
}
