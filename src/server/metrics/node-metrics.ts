// Metrics of Node.js, by the names and meanings that prom-client gave them, for which dashboards
// exist. https://github.com/siimon/prom-client/tree/v15.1.3/lib/metrics
import { readdirSync, readFileSync } from 'node:fs';
import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, type HeapSpaceInfo } from 'node:v8';
import type { Clock } from '../../lib/clock.ts';
import type { Gauges, Merge, Registry } from '../../lib/metrics/registry.ts';

type Row = readonly [name: string, help: string, read: Gauges[string][1]];

function addRows(registry: Registry, prefix: string, rows: readonly Row[], merge?: Merge): void {
  for (const [name, help, read] of rows)
    registry.addGauges({ [`${prefix}_${name}`]: [help, read] }, merge);
}

/** What is the same in all threads of the process. */
export function addProcessGauges(registry: Registry, clock: Clock): void {
  const startedAt = Math.round(clock.nowMs() / 1_000 - process.uptime());
  const cpu = () => process.cpuUsage();
  const cpuSum = () => (cpu().user + cpu().system) / 1e6;
  const status = (name: string) => readSystem('status', new RegExp(`^${name}:\\s+(\\d+) kB`, 'm'));
  // One of the descriptors reads the others.
  const openFiles = () => readdirSync('/proc/self/fd').length - 1;
  const filesMax = () => readSystem('limits', /^Max open files\s+(\d+)/m, 1);
  const { version } = process;
  const [major, minor, patch] = version.slice(1).split('.') as [string, string, string];
  addRows(registry, 'process', [
    ['cpu_user_seconds_total', 'Total user CPU time spent in seconds.', () => cpu().user / 1e6],
    [
      'cpu_system_seconds_total',
      'Total system CPU time spent in seconds.',
      () => cpu().system / 1e6,
    ],
    ['cpu_seconds_total', 'Total user and system CPU time spent in seconds.', cpuSum],
    [
      'start_time_seconds',
      'Start time of the process since unix epoch in seconds.',
      () => startedAt,
    ],
    ['resident_memory_bytes', 'Resident memory size in bytes.', () => process.memoryUsage.rss()],
    ['virtual_memory_bytes', 'Virtual memory size in bytes.', () => status('VmSize')],
    ['heap_bytes', 'Process heap size in bytes.', () => status('VmData')],
    ['open_fds', 'Number of open file descriptors.', openFiles],
    ['max_fds', 'Maximum number of open file descriptors.', filesMax],
  ]);
  registry.addGauges({
    nodejs_version_info: [
      'Node.js version info.',
      () => [{ labels: { version, major, minor, patch }, value: 1 }],
    ],
  });
}

/** Throws where the system does not tell it, so that the metric has no value. */
function readSystem(file: string, pattern: RegExp, unit = 1_024): number {
  return Number(pattern.exec(readFileSync(`/proc/self/${file}`, 'utf8'))![1]) * unit;
}

/** What each thread has for itself. */
export function addThreadMetrics(registry: Registry, clock: Clock): void {
  addEventLoopGauges(registry, clock);
  watchGarbageCollection(registry);
  const memory = () => process.memoryUsage();
  const active = (what: 'Handles' | 'Requests') => {
    // Node.js has these functions for debugging, without a type.
    const list = Reflect.get(process, `_getActive${what}`) as () => readonly object[];
    return countTypes(list().map(({ constructor }) => constructor.name));
  };
  addRows(registry, 'nodejs', [
    [
      'active_resources',
      'Number of active resources that are currently keeping the event loop alive, grouped by async resource type.',
      () => countTypes(process.getActiveResourcesInfo()),
    ],
    [
      'active_handles',
      'Number of active libuv handles grouped by handle type. Every handle type is C++ class name.',
      () => active('Handles'),
    ],
    [
      'active_requests',
      'Number of active libuv requests grouped by request type. Every request type is C++ class name.',
      () => active('Requests'),
    ],
    ['heap_size_total_bytes', 'Process heap size from Node.js in bytes.', () => memory().heapTotal],
    [
      'heap_size_used_bytes',
      'Process heap size used from Node.js in bytes.',
      () => memory().heapUsed,
    ],
    ['external_memory_bytes', 'Node.js external memory size in bytes.', () => memory().external],
    heapSpace('total', (space) => space.space_size),
    heapSpace('used', (space) => space.space_used_size),
    heapSpace('available', (space) => space.space_available_size),
  ]);
}

function countTypes(names: readonly string[]) {
  const types = Map.groupBy(names, (name) => name);
  return Array.from(types, ([type, { length }]) => ({ labels: { type }, value: length }));
}

function heapSpace(name: string, bytesOf: (space: HeapSpaceInfo) => number): Row {
  const read = () =>
    getHeapSpaceStatistics().map((space) => ({
      labels: { space: space.space_name.replace(/_space$/, '') },
      value: bytesOf(space),
    }));
  const help = `Process heap space size ${name} from Node.js in bytes.`;
  return [`heap_space_size_${name}_bytes`, help, read];
}

function addEventLoopGauges(registry: Registry, clock: Clock): void {
  let recorded: ReturnType<typeof monitorEventLoopDelay> | null = null;
  // Not at the start: it takes 370 kB, and wakes the thread a hundred times a second, for nobody if
  // nobody scrapes.
  const record = () => {
    const histogram = monitorEventLoopDelay({ resolution: 10 });
    histogram.enable();
    return histogram;
  };
  const delays = () => (recorded ??= record());
  let lagMs = 0;
  const measureLag = () => {
    delays();
    const askedMs = clock.elapsedMs();
    setImmediate(() => (lagMs = clock.elapsedMs() - askedMs));
    return lagMs / 1_000;
  };
  const lag = [['lag_seconds', 'Lag of event loop in seconds.', measureLag]] as const;
  addRows(registry, 'nodejs_eventloop', lag, 'average');
  const percentile = (share: number) => () => delays().percentile(share);
  const measured: readonly (readonly [name: string, of: string, nanos: () => number, Merge])[] = [
    ['min', 'minimum recorded event loop delay', () => delays().min, 'min'],
    ['max', 'maximum recorded event loop delay', () => delays().max, 'max'],
    ['mean', 'mean of the recorded event loop delays', () => delays().mean, 'average'],
    [
      'stddev',
      'standard deviation of the recorded event loop delays',
      () => delays().stddev,
      'average',
    ],
    ['p50', '50th percentile of the recorded event loop delays', percentile(50), 'average'],
    ['p90', '90th percentile of the recorded event loop delays', percentile(90), 'average'],
    ['p99', '99th percentile of the recorded event loop delays', percentile(99), 'average'],
  ];
  for (const [name, of, nanos, merge] of measured) {
    const read = () => {
      const seconds = delays().count === 0 ? 0 : nanos() / 1e9;
      // The last one begins anew for the next scrape.
      if (name === 'p99') delays().reset();
      return seconds;
    };
    addRows(registry, 'nodejs_eventloop_lag', [[`${name}_seconds`, `The ${of}.`, read]], merge);
  }
}

const kinds = new Map([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
]);

function watchGarbageCollection(registry: Registry): void {
  const durations = registry.histogram([0.001, 0.01, 0.1, 1, 2, 5], {
    name: 'nodejs_gc_duration_seconds',
    help: 'Garbage collection duration by kind, one of major, minor, incremental or weakcb.',
    labels: ['kind'],
  });
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      // Node.js's types lack the detail.
      const { detail } = entry as typeof entry & { readonly detail: { readonly kind: number } };
      durations.note(entry.duration / 1_000, kinds.get(detail.kind) ?? 'other');
    }
  });
  observer.observe({ entryTypes: ['gc'] });
}
