// How much may be used a minute. One process counts in memory; gateways on one database share what there is (shared-rates.ts).
import { type Budget, draw, refill, type Bucket } from './bucket.ts';

/** `left`: what the budget still has, after what was granted; among several gateways as near as this one knows. */
export type Taken = { readonly isGranted: boolean; readonly left: number };

export type Rates = {
  /** All of the amount or nothing. An amount above a minute's worth is never granted: ask for at most that, and correct it later. */
  readonly take: (budget: Budget, amount: number) => Taken | Promise<Taken>;
  /** Gives back what was taken and not used; negative: also takes what was used beyond, even if the budget then owes it. */
  readonly correct: (budget: Budget, amount: number) => void;
  readonly close: () => Promise<void>;
};

type Kept = Bucket & { readonly perMinute: number };

/** Buckets are swept of the full ones, which equal absent ones, when their number has doubled. */
const sweepMin = 1_000;

export class MemoryRates implements Rates {
  readonly #buckets = new Map<string, Kept>();
  readonly #nowMs: () => number;
  readonly #sizeMax: number;
  #sweepAt = sweepMin;

  /** Beyond `sizeMax` the oldest buckets are forgotten, as if they were full. */
  constructor(nowMs: () => number, sizeMax = Number.POSITIVE_INFINITY) {
    this.#nowMs = nowMs;
    this.#sizeMax = sizeMax;
  }

  get size(): number {
    return this.#buckets.size;
  }

  take(budget: Budget, amount: number): Taken {
    const { perMinute } = budget;
    const now = refill(this.#buckets.get(budget.id), perMinute, this.#nowMs());
    const isGranted = amount <= perMinute && amount <= now.level;
    const { bucket } = draw(now, { perMinute, returned: 0, wanted: isGranted ? amount : 0 });
    this.#keep(budget, bucket);
    return { isGranted, left: bucket.level };
  }

  correct(budget: Budget, amount: number): void {
    const { perMinute } = budget;
    const now = refill(this.#buckets.get(budget.id), perMinute, this.#nowMs());
    this.#keep(budget, draw(now, { perMinute, returned: amount, wanted: 0 }).bucket);
  }

  async close(): Promise<void> {}

  #keep({ id, perMinute }: Budget, bucket: Bucket): void {
    this.#buckets.set(id, { ...bucket, perMinute });
    if (this.#buckets.size > this.#sizeMax) this.#forgetOldest();
    if (this.#buckets.size >= this.#sweepAt) this.#sweep();
  }

  /** A map keeps the order in which its entries first came. */
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
