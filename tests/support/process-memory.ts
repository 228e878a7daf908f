// Resource use of a process, read from /proc; only on systems that have it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export const canMeasure = existsSync('/proc/self/statm');

export function residentBytes(pid: number): number {
  const [, pages] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
  return Number(pages) * 4_096;
}

/** The peak since the process started. */
export function peakResidentBytes(pid: number): number {
  const [, kilobytes] =
    /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}

/** Open files and sockets. */
export function openHandles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
