// Cache maintenance: removes expired answers, purged answers, and the oldest answers beyond the
// budget.
import type { Database } from '../../db/database.ts';
import type { ScopedLruCache } from '../../lib/scoped-lru-cache.ts';
import { TableBudget } from '../../lib/table-budget.ts';
import { measureSince, removeExpired, removeOldest, pagesFromNewest } from './cached-rows.ts';
import { findPurged, removePurged } from './purged-accounts.ts';

type UpkeepOptions = {
  readonly database: Database;
  /** The disk budget of the table. */
  readonly diskBytes: number;
  /** The memory cache, scoped by account. */
  readonly hot: Pick<ScopedLruCache<unknown>, 'generations' | 'forget' | 'removeExpired'>;
};

/** The longest time from a row's timestamp to its commit. */
const commitMs = 10_000;

export class Upkeep {
  readonly #database: Database;
  readonly #hot: UpkeepOptions['hot'];
  readonly #budget;

  constructor({ database, diskBytes, hot }: UpkeepOptions) {
    this.#database = database;
    this.#hot = hot;
    this.#budget = new TableBudget(
      {
        measureSince: (timeMs) => measureSince(database, timeMs),
        pagesFromNewest: () => pagesFromNewest(database),
        timeOf: (row) => row.expires_at_ms,
        removeOldest: (newest) => removeOldest(database, newest),
      },
      { diskBytes, commitMs },
    );
  }

  async run(nowMs: number): Promise<void> {
    this.#hot.removeExpired();
    for (const accountId of await findPurged(this.#database, this.#hot.generations()))
      this.#hot.forget(accountId);
    await removeExpired(this.#database, nowMs);
    await removePurged(this.#database);
    await this.#budget.keep(nowMs);
  }
}
