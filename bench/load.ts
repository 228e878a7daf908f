// Generates the load: for a given time, each client sends a request, reads the whole answer and
// sends the next, at once or at a given rate.
import { setTimeout } from 'node:timers/promises';
import { connectClient, type Client, type Target } from './client.ts';

export type LoadOptions = {
  readonly clients: number;
  readonly durationMs: number;
  /** Requests a second of all clients together; absent: as many as are answered. */
  readonly perSecond?: number;
};

export type Load = {
  readonly elapsedMs: number;
  /** Per request: time from its start to the body's first byte, and to the end. */
  readonly firstByteMs: readonly number[];
  readonly wholeMs: readonly number[];
};

const requestsMax = 100_000;

/** `around` is called when all clients are connected, so that it measures only the load. */
export async function underLoad<Result>(
  target: Target,
  options: LoadOptions,
  around: (load: () => Promise<Load>) => Promise<Result>,
): Promise<Result> {
  const connected = await Promise.all(
    Array.from({ length: options.clients }, () => connectClient(target)),
  );
  try {
    return await around(() => runLoad(connected, options));
  } finally {
    for (const client of connected) client.close();
  }
}

/** Requests that are running when the time is up are completed. */
async function runLoad(
  clients: readonly Client[],
  { durationMs, perSecond = Infinity }: LoadOptions,
): Promise<Load> {
  const firstByteMs: number[] = [];
  const wholeMs: number[] = [];
  const startMs = performance.now();
  let sent = 0;
  const repeat = async (client: Client) => {
    for (let nowMs = startMs; nowMs - startMs < durationMs && wholeMs.length < requestsMax;) {
      const dueMs = startMs + (sent++ * 1_000) / perSecond;
      if (dueMs > nowMs) {
        await setTimeout(dueMs - nowMs);
        nowMs = performance.now();
      }
      const firstByteAtMs = await client.send();
      firstByteMs.push(firstByteAtMs - nowMs);
      const endMs = performance.now();
      wholeMs.push(endMs - nowMs);
      nowMs = endMs;
    }
  };
  await Promise.all(clients.map(repeat));
  return { elapsedMs: performance.now() - startMs, firstByteMs, wholeMs };
}
