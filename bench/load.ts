// Generates the load: for a given time, each client sends a request, reads the whole answer and
// sends the next.
import { connectClient, type Client, type Target } from './client.ts';

export type LoadOptions = {
  readonly clients: number;
  readonly durationMs: number;
  /**
   * The clients' event loop never sleeps, so that no server pays for waking it. Only if the core of
   * the clients has nothing else to do.
   */
  readonly awake?: boolean;
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
  { durationMs, awake = false }: LoadOptions,
): Promise<Load> {
  const firstByteMs: number[] = [];
  const wholeMs: number[] = [];
  const startMs = performance.now();
  const letSleep = awake ? keepAwake() : null;
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
  letSleep?.();
  return { elapsedMs: performance.now() - startMs, firstByteMs, wholeMs };
}

/** Keeps the event loop turning. Returns a function that ends this. */
function keepAwake(): () => void {
  let isAwake = true;
  const turn = () => {
    if (isAwake) setImmediate(turn);
  };
  turn();
  return () => (isAwake = false);
}
