// Counters and histograms in this thread's memory, written as OTLP's JSON with cumulative sums.
import { type TextAttributes, writeTexts } from './attributes.ts';

type Described = { readonly name: string; readonly description: string; readonly unit: string };

/** The attributes of a series. Several instruments share one, because its key takes time to make. */
export type Labels = { readonly key: string; readonly attributes: TextAttributes };

/** `attributes`: for one instrument they always have the same names in the same order. */
export function labelsOf(attributes: TextAttributes): Labels {
  return { key: Object.values(attributes).join('\n'), attributes };
}

/** Series by their labels. */
class Series<Point> {
  readonly points = new Map<string, { readonly attributes: string; readonly point: Point }>();
  readonly #create: () => Point;

  constructor(create: () => Point) {
    this.#create = create;
  }

  of({ key, attributes }: Labels): Point {
    const known = this.points.get(key);
    if (known) return known.point;
    const point = this.#create();
    this.points.set(key, { attributes: writeTexts(attributes), point });
    return point;
  }
}

type Times = { readonly startNanos: string; readonly nowNanos: string };

/** A metric; '' while it has no series. */
type Instrument = { readonly write: (times: Times) => string };

export class Counter implements Instrument {
  readonly #described: Described;
  readonly #series = new Series(() => ({ sum: 0 }));

  constructor(described: Described) {
    this.#described = described;
  }

  /** Adds a whole number. */
  add(amount: number, labels: Labels): void {
    if (amount !== 0) this.#series.of(labels).sum += amount;
  }

  write(times: Times): string {
    const points = writePoints(this.#series, times, ({ sum }) => `"asInt":"${sum}"`);
    return points === ''
      ? ''
      : `{${writeHead(this.#described)},"sum":{"aggregationTemporality":2,"isMonotonic":true,"dataPoints":[${points}]}}`;
  }
}

type Distribution = {
  readonly counts: number[];
  count: number;
  sum: number;
  min: number;
  max: number;
};

export class Histogram implements Instrument {
  readonly #described: Described;
  readonly #bounds: readonly number[];
  readonly #series: Series<Distribution>;

  /** `bounds`: the upper bounds of the buckets but the last, ascending. */
  constructor(described: Described, bounds: readonly number[]) {
    this.#described = described;
    this.#bounds = bounds;
    this.#series = new Series(() => ({
      counts: Array.from({ length: bounds.length + 1 }, () => 0),
      count: 0,
      sum: 0,
      min: Infinity,
      max: -Infinity,
    }));
  }

  record(value: number, labels: Labels): void {
    const point = this.#series.of(labels);
    let bucket = 0;
    while (bucket < this.#bounds.length && value > this.#bounds[bucket]!) bucket += 1;
    point.counts[bucket]! += 1;
    point.count += 1;
    point.sum += value;
    if (value < point.min) point.min = value;
    if (value > point.max) point.max = value;
  }

  write(times: Times): string {
    const bounds = `"explicitBounds":[${this.#bounds.join()}]`;
    const points = writePoints(
      this.#series,
      times,
      ({ counts, count, sum, min, max }) =>
        `"count":"${count}","sum":${sum},"min":${min},"max":${max},` +
        `"bucketCounts":[${counts.map((each) => `"${each}"`).join()}],${bounds}`,
    );
    return points === ''
      ? ''
      : `{${writeHead(this.#described)},"histogram":{"aggregationTemporality":2,"dataPoints":[${points}]}}`;
  }
}

function writeHead(described: Described): string {
  return JSON.stringify(described).slice(1, -1);
}

function writePoints<Point>(
  series: Series<Point>,
  { startNanos, nowNanos }: Times,
  write: (point: Point) => string,
): string {
  return Array.from(
    series.points.values(),
    ({ attributes, point }) =>
      `{"attributes":${attributes},"startTimeUnixNano":"${startNanos}","timeUnixNano":"${nowNanos}",${write(point)}}`,
  ).join();
}
