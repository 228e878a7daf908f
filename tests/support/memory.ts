// What a process keeps in memory.
import { readFileSync } from 'node:fs';

/** Linux alone tells; elsewhere 0. */
export function residentMegabytes(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)![1]) / 1_024;
}
