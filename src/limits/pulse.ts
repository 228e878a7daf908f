// An action that many ask for and that runs once at a time: whoever asks while it runs is served by the next run, together with all others.

import type { Clock } from '../lib/clock.ts';

export type Pulse = {
  /** Soon: those who ask in the same turn of the event loop share a run. */
  readonly ask: () => void;
  /** Resolves when nothing runs and nobody has asked. */
  readonly whenIdle: () => Promise<void>;
};

/** The action must not reject. */
export function createPulse(action: () => Promise<void>): Pulse {
  let isAsked = false;
  let running: Promise<void> | null = null;
  const runWhileAsked = async () => {
    while (isAsked) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      isAsked = false;
      await action();
    }
    running = null;
  };
  return {
    ask() {
      isAsked = true;
      running ??= runWhileAsked();
    },
    whenIdle: () => running ?? Promise.resolve(),
  };
}

/** Rejects when the promise takes longer; what comes of it then is not waited for. */
export async function withinMs<Value>(clock: Clock, milliseconds: number, promise: Promise<Value>): Promise<Value> {
  let cancel = () => {};
  const late = new Promise<never>((_resolve, reject) => {
    cancel = clock.after(milliseconds, () => reject(new Error(`the database did not answer in ${milliseconds} ms`)));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    cancel();
  }
}
