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
