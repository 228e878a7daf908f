/**
 * Returns the milliseconds of CPU time that this thread spends on the work. Other programs on the
 * machine do not affect it.
 */
export function cpuMsOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * Returns the most CPU time, in milliseconds, that a body may take in one piece: 200, or eight times
 * what `JSON.parse` takes for it, if that is more.
 */
export function cpuMsMaxFor(body: string): number {
  return Math.max(200, 8 * cpuMsOf(() => JSON.parse(body)));
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
