// Writes metrics in Prometheus's text format, those of several HTTP threads as one.
// https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
import {
  type Counter,
  type Gauge,
  Histogram,
  type Merge,
  type Registry,
  type Sample as GaugeSample,
} from './registry.ts';

export const contentType = 'text/plain; version=0.0.4; charset=utf-8';

/** A metric as it was read in one thread. It can be sent to another. */
export type ReadMetric = {
  /** Its lines `# HELP` and `# TYPE`. */
  readonly head: string;
  readonly merge: Merge;
  readonly samples: readonly Sample[];
};
type Sample = readonly [series: string, value: number];

export async function readMetrics(registry: Registry): Promise<readonly ReadMetric[]> {
  const gauges = registry.gauges.map(async ({ name, help, merge, read }): Promise<ReadMetric> => {
    const samples = await readGauge(read);
    return {
      head: headOf(name, help, name.endsWith('_total') ? 'counter' : 'gauge'),
      merge,
      samples: samples.map(({ labels, value }) =>
        sample(name, Object.keys(labels), Object.values(labels), value),
      ),
    };
  });
  return [...registry.instruments.flatMap(readInstrument), ...(await Promise.all(gauges))];
}

/** Returns no samples when the value cannot be read, so that the other metrics arrive. */
async function readGauge(read: Gauge['read']): Promise<readonly GaugeSample[]> {
  try {
    const reading = await read();
    return typeof reading === 'number' ? [{ labels: {}, value: reading }] : reading;
  } catch {
    return [];
  }
}

function readInstrument(instrument: Counter | Histogram): readonly ReadMetric[] {
  const { prometheus } = instrument.names;
  if (!prometheus) return [];
  const { name, help, labels } = prometheus;
  const isHistogram = instrument instanceof Histogram;
  const samples = isHistogram
    ? readHistogram(instrument, name, labels)
    : instrument
        .seriesBy(labels.length)
        .map(({ values, point }) => sample(name, labels, values, point.sum));
  const head = headOf(name, help, isHistogram ? 'histogram' : 'counter');
  return [{ head, merge: 'sum', samples }];
}

function headOf(name: string, help: string, type: string): string {
  return `# HELP ${name} ${escape(help)}\n# TYPE ${name} ${type}`;
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
  average: (values) => sum(values) / values.length,
};

/** `threads`: what was read in each. */
export function writeMetrics(threads: readonly (readonly ReadMetric[])[]): string {
  const metrics = Map.groupBy(threads.flat(), ({ head }) => head).values();
  return `${Array.from(metrics, writeMetric).join('\n\n')}\n`;
}

function writeMetric(reads: readonly ReadMetric[]): string {
  const { head, merge } = reads[0]!;
  const all = reads.flatMap(({ samples }) => samples);
  const lines = Array.from(
    Map.groupBy(all, ([series]) => series),
    ([series, same]) => `${series} ${merges[merge](same.map(([, value]) => value))}`,
  );
  return [head, ...lines].join('\n');
}
