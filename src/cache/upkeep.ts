// Keeps the cache to its bounds: what has expired goes, what its account has purged, and of the rest the oldest that there is no room for.
import type { Database } from '../db/database.ts';
import type { ScopedMemory } from '../lib/scoped-memory.ts';
import { type Age, measureSince, removeExpired, removeOldest, pagesFromNewest } from './cached-rows.ts';
import { findPurged, removePurged } from './purged-accounts.ts';

type UpkeepOptions = {
  readonly database: Database;
  /** The budget of the table. */
  readonly diskBytes: number;
  /** By account. */
  readonly hot: Pick<ScopedMemory<unknown>, 'generations' | 'forget' | 'removeExpired'>;
};

/** The table at least as large as it is: what was counted, and everything that came since. */
type Measured = { readonly bytes: number; readonly newestMs: number; readonly countedAtMs: number };

const countEveryMs = 60 * 60_000;
/** A row may be committed this long after its time. */
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

  /** Every row is counted only when there may be too many, and once an hour, since a time may have been wrong. */
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

  /** Down to a little less than the budget, so that not every minute finds it full again. */
  async #count(): Promise<{ readonly bytes: number; readonly newestMs: number; readonly tooOld: Age | null }> {
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
