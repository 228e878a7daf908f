// Rate limits per minute. One process counts in memory; gateways on one database share a budget
// (shared-rates.ts).
import { type Budget, draw, refill, type Bucket } from './bucket.ts';

/** `left`: the budget after this grant; with several gateways, an approximation. */
export type TakeResult = { readonly isGranted: boolean; readonly left: number };

export type Rates = {
  /**
   * Takes all of the amount or nothing. An amount above a minute's budget is never granted: take at
   * most that, and correct it later.
   */
  readonly take: (budget: Budget, amount: number) => TakeResult | Promise<TakeResult>;
  /** Returns unused units; a negative amount takes more, even if the budget goes below zero. */
  readonly correct: (budget: Budget, amount: number) => void;
  readonly close: () => Promise<void>;
};

type Kept = Bucket & { readonly perMinute: number };

/**
 * The fewest buckets to sweep. When the number has doubled, full buckets are removed: they equal
 * absent ones.
 */
const sweepMin = 1_000;

/** Buckets in memory, by the ids of their budgets. */
export class Buckets {
  readonly #buckets = new Map<string, Kept>();
  readonly #nowMs: () => number;
  readonly #sizeMax: number;
  #sweepAt = sweepMin;

  /** Beyond `sizeMax` the oldest buckets are dropped, as if they were full. */
  constructor(nowMs: () => number, sizeMax = Number.POSITIVE_INFINITY) {
    this.#nowMs = nowMs;
    this.#sizeMax = sizeMax;
  }

  get size(): number {
    return this.#buckets.size;
  }

  read({ id, perMinute }: Budget): Bucket {
    return refill(this.#buckets.get(id), perMinute, this.#nowMs());
  }

  keep({ id, perMinute }: Budget, bucket: Bucket): void {
    this.#buckets.set(id, { ...bucket, perMinute });
    if (this.#buckets.size > this.#sizeMax) this.#forgetOldest();
    if (this.#buckets.size >= this.#sweepAt) this.#sweep();
  }

  /** A Map iterates in insertion order, so the first entry is the oldest. */
  #forgetOldest(): void {
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }

  #sweep(): void {
    const nowMs = this.#nowMs();
    for (const [other, kept] of this.#buckets) {
      if (refill(kept, kept.perMinute, nowMs).level >= kept.perMinute) this.#buckets.delete(other);
    }
    this.#sweepAt = Math.max(sweepMin, this.#buckets.size * 2);
  }
}

export class MemoryRates implements Rates {
  readonly #buckets: Buckets;

  /** Beyond `sizeMax` the oldest buckets are dropped, as if they were full. */
  constructor(nowMs: () => number, sizeMax?: number) {
    this.#buckets = new Buckets(nowMs, sizeMax);
  }

  get size(): number {
    return this.#buckets.size;
  }

  take(budget: Budget, amount: number): TakeResult {
    const { perMinute } = budget;
    const now = this.#buckets.read(budget);
    const isGranted = amount <= perMinute && amount <= now.level;
    const { bucket } = draw(now, { perMinute, returned: 0, wanted: isGranted ? amount : 0 });
    this.#buckets.keep(budget, bucket);
    return { isGranted, left: bucket.level };
  }

  correct(budget: Budget, amount: number): void {
    const { perMinute } = budget;
    const { bucket } = draw(this.#buckets.read(budget), { perMinute, returned: amount, wanted: 0 });
    this.#buckets.keep(budget, bucket);
  }

  async close(): Promise<void> {}
}
