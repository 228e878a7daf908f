// Histograms of durations by label values, kept in memory until somebody reads them.

export type TimingSeries = {
  readonly values: readonly string[];
  /** How many durations were at most each bound, and above the last one. */
  readonly counts: readonly number[];
  readonly sumSeconds: number;
};

export class Timings {
  /** Upper bounds of the buckets, ascending. */
  readonly boundsSeconds: readonly number[];
  readonly #series = new Map<
    string,
    { readonly values: readonly string[]; readonly counts: number[]; sumSeconds: number }
  >();

  constructor(boundsSeconds: readonly number[]) {
    this.boundsSeconds = boundsSeconds;
  }

  /** `values`: the label values, always in the same order. They must come from a bounded set. */
  note(milliseconds: number, ...values: string[]): void {
    const name = values.join('\n');
    let series = this.#series.get(name);
    if (!series) {
      const counts = Array.from({ length: this.boundsSeconds.length + 1 }, () => 0);
      this.#series.set(name, (series = { values, counts, sumSeconds: 0 }));
    }
    const seconds = milliseconds / 1_000;
    series.counts[this.#bucketOf(seconds)]! += 1;
    series.sumSeconds += seconds;
  }

  series(): readonly TimingSeries[] {
    return [...this.#series.values()];
  }

  #bucketOf(seconds: number): number {
    let index = 0;
    while (index < this.boundsSeconds.length && seconds > this.boundsSeconds[index]!) index += 1;
    return index;
  }
}
