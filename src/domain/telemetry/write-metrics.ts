// Writes counters and histograms in OTLP's JSON, with cumulative sums.
import { Counter, type Histogram, type Registry, type Series } from '../../lib/metrics/registry.ts';
import { writeTexts } from './attributes.ts';

type Times = { readonly startNanos: string; readonly nowNanos: string };

/** Returns a JSON object for each metric that has a value. */
export function writeMetrics({ instruments }: Registry, times: Times): readonly string[] {
  return instruments.flatMap((metric) => {
    if (!metric.names.otlp) return [];
    const { attributes, ...described } = metric.names.otlp;
    const points =
      metric instanceof Counter
        ? writeSums(metric, attributes, times)
        : writeDistributions(metric, attributes, times);
    if (points.length === 0) return [];
    const kind =
      metric instanceof Counter
        ? '"sum":{"aggregationTemporality":2,"isMonotonic":true'
        : '"histogram":{"aggregationTemporality":2';
    const head = JSON.stringify(described).slice(1, -1);
    return [`{${head},${kind},"dataPoints":[${points.join()}]}}`];
  });
}

type Attributes = readonly string[];

function writeSums(counter: Counter, attributes: Attributes, times: Times): readonly string[] {
  return counter
    .seriesBy(attributes.length)
    .filter(({ point }) => point.sum !== 0)
    .map((series) => writePoint(series, attributes, times, `"asInt":"${series.point.sum}"`));
}

function writeDistributions(
  histogram: Histogram,
  attributes: Attributes,
  times: Times,
): readonly string[] {
  const bounds = `"explicitBounds":[${histogram.bounds.join()}]`;
  return histogram.series().map((series) => {
    const { counts, count, sum, min, max } = series.point;
    const value =
      `"count":"${count}","sum":${sum},"min":${min},"max":${max},` +
      `"bucketCounts":[${counts.map((each) => `"${each}"`).join()}],${bounds}`;
    return writePoint(series, attributes, times, value);
  });
}

function writePoint(
  { values }: Series<unknown>,
  attributes: Attributes,
  { startNanos, nowNanos }: Times,
  value: string,
): string {
  // An attribute without a value is left out, such as the error of a request that succeeded.
  const given = attributes.map((name, index) => [name, values[index]!] as const);
  const texts = writeTexts(Object.fromEntries(given.filter(([, text]) => text !== '')));
  return `{"attributes":${texts},"startTimeUnixNano":"${startNanos}","timeUnixNano":"${nowNanos}",${value}}`;
}
