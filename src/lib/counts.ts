// Sums by label values, kept in memory until somebody reads them. Counting is a map lookup.

export type CountSeries = { readonly values: readonly string[]; readonly sum: number };

export class Counts {
  readonly #series = new Map<string, { readonly values: readonly string[]; sum: number }>();

  /** `values`: the label values, always in the same order. They must come from a bounded set. */
  add(amount: number, ...values: string[]): void {
    const name = values.join('\n');
    const known = this.#series.get(name);
    if (known) known.sum += amount;
    else this.#series.set(name, { values, sum: amount });
  }

  series(): readonly CountSeries[] {
    return [...this.#series.values()];
  }
}
