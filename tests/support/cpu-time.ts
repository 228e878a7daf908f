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
