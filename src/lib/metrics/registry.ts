// The metrics of one HTTP thread: counters and histograms by label values, kept in memory, and
// gauges that are read where their values are kept. prometheus.ts and
// domain/telemetry/operator-export.ts write them.

/** How Prometheus sees a counter or a histogram. `labels`: the names of its first label values. */
type PrometheusNames = Readonly<{ name: string; help: string; labels: readonly string[] }>;

/** How a receiver of OTLP sees it. `attributes`: the names of its first label values. */
type OtlpNames = Readonly<Record<'name' | 'description' | 'unit', string>> & {
  readonly attributes: readonly string[];
};

/** null: it is not written there. */
type Names = { readonly prometheus: PrometheusNames | null; readonly otlp: OtlpNames | null };

export type Series<Point> = { readonly values: readonly string[]; readonly point: Point };

/** Series by their label values, which are always in the same order and from a bounded set. */
class Instrument<Point> {
  readonly names: Names;
  readonly #series = new Map<string, Series<Point>>();
  readonly #begin: () => Point;

  constructor(names: Names, begin: () => Point) {
    this.names = names;
    this.#begin = begin;
  }

  series(): readonly Series<Point>[] {
    return [...this.#series.values()];
  }

  protected pointOf(values: readonly string[]): Point {
    const key = values.join('\n');
    const known = this.#series.get(key);
    if (known) return known.point;
    const point = this.#begin();
    this.#series.set(key, { values, point });
    return point;
  }
}

export class Counter extends Instrument<{ sum: number }> {
  constructor(names: Names) {
    super(names, () => ({ sum: 0 }));
  }

  add(amount: number, ...values: string[]): void {
    this.pointOf(values).sum += amount;
  }

  /** Returns sums by the first label values. */
  seriesBy(count: number): ReturnType<Counter['series']> {
    const by = new Counter(this.names);
    for (const { values, point } of this.series()) by.add(point.sum, ...values.slice(0, count));
    return by.series();
  }
}

export class Histogram extends Instrument<{
  /** How many values were at most each bound, and above the last one. */
  readonly counts: number[];
  count: number;
  sum: number;
  min: number;
  max: number;
}> {
  readonly bounds: readonly number[];

  constructor(names: Names, bounds: readonly number[]) {
    super(names, () => {
      const counts = Array.from({ length: bounds.length + 1 }, () => 0);
      return { counts, count: 0, sum: 0, min: Infinity, max: -Infinity };
    });
    this.bounds = bounds;
  }

  note(value: number, ...values: string[]): void {
    const point = this.pointOf(values);
    let bucket = 0;
    while (bucket < this.bounds.length && value > this.bounds[bucket]!) bucket += 1;
    point.counts[bucket]! += 1;
    point.count += 1;
    point.sum += value;
    if (value < point.min) point.min = value;
    if (value > point.max) point.max = value;
  }
}

export type Sample = { readonly labels: Readonly<Record<string, string>>; readonly value: number };
/** A value without labels, or samples. */
type Reading = number | readonly Sample[];

/** How the values of several HTTP threads become one. */
export type Merge = 'sum' | 'max' | 'average';

/** A metric that is read when Prometheus asks. Names of counters, and only they, end in `_total`. */
export type Gauge = {
  readonly name: string;
  readonly help: string;
  readonly merge: Merge;
  readonly read: () => Reading | Promise<Reading>;
};

export type Gauges = Readonly<Record<string, readonly [help: string, read: Gauge['read']]>>;

export class Registry {
  readonly instruments: (Counter | Histogram)[] = [];
  readonly gauges: Gauge[] = [];

  counter(prometheus: PrometheusNames | null, otlp: OtlpNames | null = null): Counter {
    const counter = new Counter({ prometheus, otlp });
    this.instruments.push(counter);
    return counter;
  }

  /** `bounds`: the upper bounds of the buckets but the last, ascending. */
  histogram(
    bounds: readonly number[],
    prometheus: PrometheusNames | null,
    otlp: OtlpNames | null = null,
  ): Histogram {
    const histogram = new Histogram({ prometheus, otlp }, bounds);
    this.instruments.push(histogram);
    return histogram;
  }

  addGauges(gauges: Gauges, merge: Merge = 'sum'): void {
    for (const [name, [help, read]] of Object.entries(gauges))
      this.gauges.push({ name, help, merge, read });
  }
}
