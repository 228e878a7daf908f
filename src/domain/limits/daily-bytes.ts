// Limits the bytes that are stored for an account in a day. One limit is for free answers (of test
// keys and from the cache): responses for retries, each new Idempotency-Key another copy, and images
// with a link. Otherwise an account that pays nothing could fill the disk. The other is for long
// answers, which are stored as files. All threads of a process share them.
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../lib/clock.ts';
import { dayOf } from '../../lib/utc-time.ts';

export type DailyBytes = {
  /** Returns false when the account has no room for as many bytes of that kind today. */
  readonly take: (
    kind: 'free' | 'file',
    accountId: string,
    bytes: number,
  ) => boolean | Promise<boolean>;
};

export function dailyBytesInMemory(
  { limits, idempotency }: Config,
  clock: Pick<Clock, 'nowMs'>,
): DailyBytes {
  const days = {
    free: new Day(limits.free_bytes_per_day, clock),
    file: new Day(idempotency.file_bytes_per_day, clock),
  };
  return { take: (kind, accountId, bytes) => days[kind].take(accountId, bytes) };
}

class Day {
  readonly #bytesMax: number;
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #taken = new Map<string, number>();
  #day = '';

  /** `bytesMax`: of each account in a UTC day. */
  constructor(bytesMax: number, clock: Pick<Clock, 'nowMs'>) {
    this.#bytesMax = bytesMax;
    this.#clock = clock;
  }

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
