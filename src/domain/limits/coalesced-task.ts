// A task that many callers request and that runs once at a time. Requests made while it runs share
// the next run.
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../lib/clock.ts';

type CoalescedTask = {
  /** Schedules a run. Requests of the same event-loop turn share it. */
  readonly schedule: () => void;
  /** Resolves when no run is active or scheduled. */
  readonly whenIdle: () => Promise<void>;
};

/** `action` must not reject. */
export function createCoalescedTask(action: () => Promise<void>): CoalescedTask {
  let isScheduled = false;
  let running: Promise<void> | null = null;
  const runWhileScheduled = async () => {
    while (isScheduled) {
      await setImmediate();
      isScheduled = false;
      await action();
    }
    running = null;
  };
  return {
    schedule() {
      isScheduled = true;
      running ??= runWhileScheduled();
    },
    whenIdle: () => running ?? Promise.resolve(),
  };
}

/** Rejects when the database takes longer; its later answer is ignored. */
export async function withTimeout<Value>(
  clock: Clock,
  milliseconds: number,
  promise: Promise<Value>,
): Promise<Value> {
  let cancel = () => {};
  const late = new Promise<never>((_resolve, reject) => {
    cancel = clock.after(milliseconds, () =>
      reject(new Error(`the database did not answer in ${milliseconds} ms`)),
    );
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    cancel();
  }
}
