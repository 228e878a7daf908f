/**
 * Returns the milliseconds of CPU time that this thread spends on the work. Other programs on the
 * machine affect it less than the time of day, but they do: cores, caches and memory are shared.
 */
export function cpuMsOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/** The least of three runs: one may include compilation, or be slowed by other programs. */
export function leastCpuMsOf(work: () => void): number {
  return Math.min(...[1, 2, 3].map(() => cpuMsOf(work)));
}

/** The CPU time, in milliseconds, that one piece of work may take on any machine. */
const quickMs = 200;
const tries = 6;

/** `JSON.parse` takes about 25 ms for it on a quiet machine. */
const yardstick = JSON.stringify(
  Array.from({ length: 60_000 }, (_, index) => ({ id: index, name: `n${index}`, list: [index] })),
);

/**
 * Tries until the work on a body is quick: it takes 200 ms of CPU time, or eight times what
 * `JSON.parse` takes for the body or for a text of 25 ms. That is measured beside each try, because
 * other programs slow both. Work that takes quadratic time is slow each time. Returns the last try's
 * time and the most that it may take.
 */
export async function tryToBeQuick(body: string, work: () => number | Promise<number>) {
  for (let tried = 1; ; tried++) {
    const tookMs = await work();
    let maxMs = quickMs;
    if (tookMs > quickMs)
      for (const text of [yardstick, body])
        maxMs = Math.max(maxMs, 8 * cpuMsOf(() => JSON.parse(text)));
    const isQuick = tookMs <= maxMs;
    if (isQuick || tried === tries) return { isQuick, tookMs, maxMs };
  }
}

/** Measures the longest turn of this thread's event loop, in CPU time. */
export class TurnMeter {
  #longestMs = 0;
  #last = process.threadCpuUsage();
  #runs = true;

  constructor() {
    setImmediate(this.#tick);
  }

  /** Runs the work, and returns its result and its longest turn. */
  async longestTurnOf<T>(work: () => Promise<T>) {
    // The turn that began before does not count.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    this.#longestMs = 0;
    const result = await work();
    return { tookMs: this.#longestMs, result };
  }

  stop(): void {
    this.#runs = false;
  }

  readonly #tick = () => {
    const { user, system } = process.threadCpuUsage(this.#last);
    this.#last = process.threadCpuUsage();
    this.#longestMs = Math.max(this.#longestMs, (user + system) / 1_000);
    if (this.#runs) setImmediate(this.#tick);
  };
}
