// Metrics of Node.js, by the names and meanings that prom-client gave them.
// https://github.com/siimon/prom-client/tree/v15.1.3/lib/metrics
import { readdirSync, readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '../../lib/clock.ts';
import type { Registry } from '../../lib/metrics/registry.ts';

/** What is the same in all threads of the process. */
export function addProcessGauges(registry: Registry, clock: Clock): void {
  const startedAt = Math.round(clock.nowMs() / 1_000 - process.uptime());
  const cpuSeconds = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  };
  registry.addGauges({
    process_cpu_seconds_total: ['Total user and system CPU time spent in seconds.', cpuSeconds],
    process_start_time_seconds: [
      'Start time of the process since unix epoch in seconds.',
      () => startedAt,
    ],
    process_resident_memory_bytes: [
      'Resident memory size in bytes.',
      () => process.memoryUsage.rss(),
    ],
    // One of the descriptors reads the others.
    process_open_fds: [
      'Number of open file descriptors.',
      () => readdirSync('/proc/self/fd').length - 1,
    ],
    process_max_fds: ['Maximum number of open file descriptors.', readFilesMax],
  });
}

/** Throws where the system does not tell it, so that the metric has no value. */
function readFilesMax(): number {
  return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))![1]);
}

/** What each thread has for itself. */
export function addThreadGauges(registry: Registry): void {
  const memory = () => process.memoryUsage();
  registry.addGauges({
    nodejs_heap_size_total_bytes: [
      'Process heap size from Node.js in bytes.',
      () => memory().heapTotal,
    ],
    nodejs_heap_size_used_bytes: [
      'Process heap size used from Node.js in bytes.',
      () => memory().heapUsed,
    ],
    nodejs_external_memory_bytes: [
      'Node.js external memory size in bytes.',
      () => memory().external,
    ],
  });
  addEventLoopGauges(registry);
}

function addEventLoopGauges(registry: Registry): void {
  let recorded: ReturnType<typeof monitorEventLoopDelay> | null = null;
  // Not at the start: it takes 370 kB, and wakes the thread a hundred times a second, for nobody if
  // nobody scrapes.
  const record = () => {
    const histogram = monitorEventLoopDelay({ resolution: 10 });
    histogram.enable();
    return histogram;
  };
  const delays = () => (recorded ??= record());
  const seconds = (nanos: () => number) => () => (delays().count === 0 ? 0 : nanos() / 1e9);
  const max = seconds(() => delays().max);
  const p50 = seconds(() => delays().percentile(50));
  const p99 = seconds(() => delays().percentile(99));
  registry.addGauges(
    { nodejs_eventloop_lag_max_seconds: ['The maximum recorded event loop delay.', max] },
    'max',
  );
  registry.addGauges(
    {
      nodejs_eventloop_lag_p50_seconds: [
        'The 50th percentile of the recorded event loop delays.',
        p50,
      ],
      nodejs_eventloop_lag_p99_seconds: [
        'The 99th percentile of the recorded event loop delays.',
        () => {
          const delay = p99();
          // This is the last one that is read, so it begins anew for the next scrape.
          delays().reset();
          return delay;
        },
      ],
    },
    'average',
  );
}
