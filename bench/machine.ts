// What the results depend on: the processor, and how long the disk takes to make a write durable.
// Each charge waits for one such write; a hold only has to outlive the process.
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { arch, cpus, loadavg, platform } from 'node:os';
import { join } from 'node:path';
import { isPinned } from './child.ts';
import { median } from './statistics.ts';

export function describeMachine(dataDir: string): string {
  const [cpu] = cpus();
  const pinning = isPinned
    ? 'the contestants on core 0 in turn, clients and upstream on core 1'
    : 'NOT PINNED (no taskset, or one core): contestants, clients and upstream share all cores';
  return [
    `${new Date().toISOString().slice(0, 10)}, ${platform()} ${arch()}, ${cpus().length} × ${cpu?.model.trim()}, Node ${process.versions.node}, load ${loadavg()[0]!.toFixed(1)} at the start`,
    `Cores: ${pinning}.`,
    `Disk: a write is durable after ${commitMs(dataDir).toFixed(2)} ms (median); a charged request waits for one.`,
  ].join('\n');
}

function commitMs(folder: string): number {
  const file = openSync(join(folder, 'commit-probe'), 'w');
  const page = Buffer.alloc(4_096, 1);
  const times = Array.from({ length: 100 }, () => {
    const startMs = performance.now();
    writeSync(file, page, 0, page.length, 0);
    fdatasyncSync(file);
    return performance.now() - startMs;
  });
  closeSync(file);
  return median(times);
}
