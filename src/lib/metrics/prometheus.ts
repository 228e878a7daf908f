// Writes metrics in Prometheus's text format, those of several HTTP threads as one.
// https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
import { type Counter, Histogram, type Merge, type Registry } from './registry.ts';

export const contentType = 'text/plain; version=0.0.4; charset=utf-8';

/** A metric as it was read in one thread. It can be sent to another. */
export type ReadMetric = {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly merge: Merge;
  readonly samples: readonly Sample[];
};
type Sample = readonly [series: string, value: number];

export async function readMetrics(registry: Registry): Promise<readonly ReadMetric[]> {
  const gauges = registry.gauges.map(async ({ read, ...gauge }): Promise<ReadMetric> => {
    const reading = await read();
    const samples = typeof reading === 'number' ? [{ labels: {}, value: reading }] : reading;
    const type = gauge.name.endsWith('_total') ? 'counter' : 'gauge';
    const sampleOf = ({ labels, value }: (typeof samples)[number]) =>
      sample(gauge.name, Object.keys(labels), Object.values(labels), value);
    return { ...gauge, type, samples: samples.map(sampleOf) };
  });
  return [...registry.instruments.flatMap(readInstrument), ...(await Promise.all(gauges))];
}

function readInstrument(instrument: Counter | Histogram): readonly ReadMetric[] {
  const { prometheus } = instrument.names;
  if (!prometheus) return [];
  const { name, help, labels } = prometheus;
  if (instrument instanceof Histogram) {
    const samples = readHistogram(instrument, name, labels);
    return [{ name, help, type: 'histogram', merge: 'sum', samples }];
  }
  const samples = instrument
    .seriesBy(labels.length)
    .map(({ values, point }) => sample(name, labels, values, point.sum));
  return [{ name, help, type: 'counter', merge: 'sum', samples }];
}

function readHistogram(histogram: Histogram, name: string, labels: readonly string[]) {
  return histogram.series().flatMap(({ values, point }) => {
    let soFar = 0;
    const buckets = point.counts.map((count, index) => {
      const le = String(histogram.bounds[index] ?? '+Inf');
      return sample(`${name}_bucket`, [...labels, 'le'], [...values, le], (soFar += count));
    });
    return [
      ...buckets,
      sample(`${name}_sum`, labels, values, point.sum),
      sample(`${name}_count`, labels, values, point.count),
    ];
  });
}

function sample(
  name: string,
  labels: readonly string[],
  values: readonly string[],
  value: number,
): Sample {
  const texts = labels.map((label, index) => `${label}="${escape(values[index]!, true)}"`);
  return [texts.length === 0 ? name : `${name}{${texts.join()}}`, value];
}

function escape(text: string, isLabel = false): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return isLabel ? escaped.replaceAll('"', '\\"') : escaped;
}

const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
const merges: Readonly<Record<Merge, (values: readonly number[]) => number>> = {
  sum,
  max: (values) => Math.max(...values),
  min: (values) => Math.min(...values),
  average: (values) => sum(values) / values.length,
};

/** `threads`: what was read in each. */
export function writeMetrics(threads: readonly (readonly ReadMetric[])[]): string {
  const metrics = Map.groupBy(threads.flat(), ({ name }) => name).values();
  return `${Array.from(metrics, writeMetric).join('\n\n')}\n`;
}

function writeMetric(reads: readonly ReadMetric[]): string {
  const { name, help, type, merge } = reads[0]!;
  const all = reads.flatMap(({ samples }) => samples);
  const lines = Array.from(
    Map.groupBy(all, ([series]) => series),
    ([series, same]) => `${series} ${merges[merge](same.map(([, value]) => value))}`,
  );
  return [`# HELP ${name} ${escape(help)}`, `# TYPE ${name} ${type}`, ...lines].join('\n');
}
