// Cache maintenance: removes expired answers, purged answers, and the oldest answers beyond the
// budget.
import type { Database } from '../../db/database.ts';
import type { ScopedLruCache } from '../../lib/scoped-lru-cache.ts';
import {
  type Age,
  measureSince,
  removeExpired,
  removeOldest,
  pagesFromNewest,
} from './cached-rows.ts';
import { findPurged, removePurged } from './purged-accounts.ts';

type UpkeepOptions = {
  readonly database: Database;
  /** The disk budget of the table. */
  readonly diskBytes: number;
  /** The memory cache, scoped by account. */
  readonly hot: Pick<ScopedLruCache<unknown>, 'generations' | 'forget' | 'removeExpired'>;
};

/** An upper bound of the table's size: the last full count, plus everything stored since. */
type Measured = { readonly bytes: number; readonly newestMs: number; readonly countedAtMs: number };

const countEveryMs = 60 * 60_000;
/** The longest time from a row's timestamp to its commit. */
const commitMs = 10_000;

export class Upkeep {
  readonly #options: UpkeepOptions;
  #measured: Measured | null = null;

  constructor(options: UpkeepOptions) {
    this.#options = options;
  }

  async run(nowMs: number): Promise<void> {
    const { database, hot } = this.#options;
    hot.removeExpired();
    for (const accountId of await findPurged(database, hot.generations())) hot.forget(accountId);
    await removeExpired(database, nowMs);
    await removePurged(database);
    await this.#keepToBudget(nowMs);
  }

  /**
   * Counts all rows only when the budget may be exceeded, and once an hour in case a timestamp was
   * wrong.
   */
  async #keepToBudget(nowMs: number): Promise<void> {
    const { database, diskBytes } = this.#options;
    if (this.#measured && nowMs - this.#measured.countedAtMs < countEveryMs) {
      const { bytes, newestMs } = await measureSince(database, this.#measured.newestMs - commitMs);
      this.#measured = {
        ...this.#measured,
        bytes: this.#measured.bytes + bytes,
        newestMs: Math.max(this.#measured.newestMs, newestMs ?? 0),
      };
      if (this.#measured.bytes <= diskBytes) return;
    }
    const counted = await this.#count();
    if (counted.tooOld) await removeOldest(database, counted.tooOld);
    this.#measured = { ...counted, countedAtMs: nowMs };
  }

  /** Trims to slightly below the budget, so that the table is not full again within a minute. */
  async #count(): Promise<{
    readonly bytes: number;
    readonly newestMs: number;
    readonly tooOld: Age | null;
  }> {
    const { database, diskBytes } = this.#options;
    const keptBytesMax = diskBytes - Math.floor(diskBytes / 16);
    let [bytes, keptBytes, newestMs] = [0, 0, 0];
    let tooOld: Age | null = null;
    for await (const page of pagesFromNewest(database)) {
      newestMs ||= page[0]!.expires_at_ms;
      for (const row of page) {
        bytes += row.size_bytes;
        if (bytes > keptBytesMax) tooOld ??= row;
        else keptBytes = bytes;
      }
      if (bytes > diskBytes) return { bytes: keptBytes, newestMs, tooOld };
    }
    return { bytes, newestMs, tooOld: null };
  }
}
