// Generates the load: for a given time, each client sends a request, reads the whole answer and
// sends the next.
import { connectClient, type Client, type Target } from './client.ts';

export type LoadOptions = { readonly clients: number; readonly durationMs: number };

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
  { clients, durationMs }: LoadOptions,
  around: (load: () => Promise<Load>) => Promise<Result>,
): Promise<Result> {
  const connected = await Promise.all(Array.from({ length: clients }, () => connectClient(target)));
  try {
    return await around(() => runLoad(connected, durationMs));
  } finally {
    for (const client of connected) client.close();
  }
}

/** Requests that are running when the time is up are completed. */
async function runLoad(clients: readonly Client[], durationMs: number): Promise<Load> {
  const firstByteMs: number[] = [];
  const wholeMs: number[] = [];
  const startMs = performance.now();
  const repeat = async (client: Client) => {
    for (let nowMs = startMs; nowMs - startMs < durationMs && wholeMs.length < requestsMax;) {
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
