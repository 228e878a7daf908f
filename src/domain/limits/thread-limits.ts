// Limits shared by the threads of one process. One thread keeps the book; the others exchange their
// shares with it as gateways do with PostgreSQL (shared-rates.ts, shared-slots.ts).
import { draw } from './bucket.ts';
import { Buckets } from './rates.ts';
import type { RateGrant, RateRequest } from './shared-rates.ts';
import type { SlotRequest } from './shared-slots.ts';

export class LimitsBook {
  readonly #buckets: Buckets;
  /** The slots of each limit, by holder. */
  readonly #slots = new Map<string, Map<number, number>>();

  constructor(nowMs: () => number) {
    this.#buckets = new Buckets(nowMs);
  }

  exchangeRates(requests: readonly RateRequest[]): RateGrant[] {
    return requests.map((request) => {
      const { bucket, granted } = draw(this.#buckets.read(request), request);
      this.#buckets.keep(request, bucket);
      return { granted, level: bucket.level };
    });
  }

  /** Returns the slots that the holder gets beyond those that it uses, for each request. */
  exchangeSlots(holder: number, requests: readonly SlotRequest[]): number[] {
    return requests.map(({ id, max, inUse, wanted }) => {
      const held = this.#slots.get(id) ?? new Map<number, number>();
      held.delete(holder);
      const others = held.values().reduce((sum, slots) => sum + slots, 0);
      const granted = Math.max(0, Math.min(wanted, max - inUse - others));
      if (inUse + granted > 0) held.set(holder, inUse + granted);
      if (held.size > 0) this.#slots.set(id, held);
      else this.#slots.delete(id);
      return granted;
    });
  }
}
