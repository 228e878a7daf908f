// Limits the free answers (of test keys and from the cache) that are stored for an account: responses
// for retries, each new Idempotency-Key another copy, and images with a link. Otherwise an account
// that pays nothing could fill the disk.
import type { Clock } from '../../lib/clock.ts';
import { dayOf } from '../../lib/utc-time.ts';

export class FreeBytes {
  readonly #bytesMax: number;
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #taken = new Map<string, number>();
  #day = '';

  /** `bytesMax`: of each account in a UTC day. */
  constructor(bytesMax: number, clock: Pick<Clock, 'nowMs'>) {
    this.#bytesMax = bytesMax;
    this.#clock = clock;
  }

  /** Returns false when the account has no room for as many bytes today. */
  take(accountId: string, bytes: number): boolean {
    const today = dayOf(this.#clock.nowMs());
    if (today !== this.#day) this.#taken.clear();
    this.#day = today;
    const taken = (this.#taken.get(accountId) ?? 0) + bytes;
    if (taken > this.#bytesMax) return false;
    this.#taken.set(accountId, taken);
    return true;
  }
}
