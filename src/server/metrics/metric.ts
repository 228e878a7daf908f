// A metric as data: its name, its help and how to read it. It keeps nothing itself; a scrape reads
// the counts where they are kept.
import type { Gauge, Registry } from 'prom-client';
import type { Counts } from '../../lib/counts.ts';
import type { Timings } from '../../lib/timings.ts';

export type Sample = {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Set for the parts of a histogram, which add to the name. */
  readonly metricName?: string;
};

export type Metric = {
  /** Without the prefix `tollgate_`. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** How the values of several HTTP threads become one. Default: `sum`. */
  readonly aggregator?: 'sum' | 'max';
  readonly read: () => readonly Sample[] | Promise<readonly Sample[]>;
};

export function register(registry: Registry, metrics: readonly Metric[]): void {
  for (const { name: ownName, type, help, aggregator = 'sum', read } of metrics) {
    const name = `tollgate_${ownName}`;
    const get = async () => ({ name, help, type, aggregator, values: [...(await read())] });
    // The registry only calls `get`, but its type names prom-client's own classes.
    registry.registerMetric({ name, help, type, aggregator, get } as unknown as Gauge);
  }
}

/** A metric without labels. */
export function single(metric: Omit<Metric, 'read'> & { readonly value: () => number }): Metric {
  const { value, ...rest } = metric;
  return { ...rest, read: () => [{ labels: {}, value: value() }] };
}

/** A counter that reads sums kept in memory. `labels`: in the order of the counted values. */
export function countsMetric(
  { name, help }: Pick<Metric, 'name' | 'help'>,
  labels: readonly string[],
  counts: Counts,
): Metric {
  const read = () =>
    counts.series().map(({ values, sum }) => ({ labels: labelled(labels, values), value: sum }));
  return { name, type: 'counter', help, read };
}

/** A histogram that reads durations kept in memory. */
export function timingsMetric(
  { name, help }: Pick<Metric, 'name' | 'help'>,
  labels: readonly string[],
  timings: Timings,
): Metric {
  return { name, type: 'histogram', help, read: () => readTimings(name, labels, timings) };
}

function readTimings(name: string, labelNames: readonly string[], timings: Timings): Sample[] {
  return timings.series().flatMap(({ values, counts, sumSeconds }) => {
    const labels = labelled(labelNames, values);
    let soFar = 0;
    const buckets = counts.map((count, index) => {
      const le = String(timings.boundsSeconds[index] ?? '+Inf');
      soFar += count;
      return { metricName: `tollgate_${name}_bucket`, labels: { ...labels, le }, value: soFar };
    });
    return [
      ...buckets,
      { metricName: `tollgate_${name}_sum`, labels, value: sumSeconds },
      { metricName: `tollgate_${name}_count`, labels, value: soFar },
    ];
  });
}

function labelled(names: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, index) => [name, values[index]!]));
}
