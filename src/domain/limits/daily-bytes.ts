// Limits the bytes that are stored for an account in a day. One limit is for free answers (of test
// keys and from the cache): responses for retries, each new Idempotency-Key another copy, and images
// with a link. Otherwise an account that pays nothing could fill the disk. The other is for long
// answers, which are stored as files.
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../lib/clock.ts';
import { dayOf } from '../../lib/utc-time.ts';

type DailyBytesOptions = { readonly threads: number; readonly clock: Pick<Clock, 'nowMs'> };

/** Each thread gives out its share. */
export function openDailyBytes(
  { limits, idempotency }: Config,
  { threads, clock }: DailyBytesOptions,
): { readonly freeBytes: DailyBytes; readonly fileBytes: DailyBytes } {
  const share = (bytes: number) => new DailyBytes(Math.floor(bytes / threads), clock);
  return {
    freeBytes: share(limits.free_bytes_per_day),
    fileBytes: share(idempotency.file_bytes_per_day),
  };
}

export class DailyBytes {
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
