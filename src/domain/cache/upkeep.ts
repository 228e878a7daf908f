// Cache maintenance: removes expired answers, purged answers, and the oldest answers beyond the
// budget.
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { SizedRows } from '../../db/sized-rows.ts';
import type { ScopedLruCache } from '../../lib/scoped-lru-cache.ts';
import { cachedRowsIn, findPurged, removePurged } from './purged-accounts.ts';

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
  readonly #options: UpkeepOptions;
  readonly #rows: SizedRows;

  constructor(options: UpkeepOptions) {
    this.#options = options;
    this.#rows = cachedRowsIn(options.database);
  }

  async run(nowMs: number): Promise<void> {
    const { database, diskBytes, hot } = this.#options;
    hot.removeExpired();
    for (const accountId of await findPurged(database.read, hot.generations()))
      hot.forget(accountId);
    await this.#rows.remove(sql`expires_at_ms <= ${nowMs} order by expires_at_ms`);
    await removePurged(database);
    await this.#rows.keepWithin({ diskBytes, commitMs }, nowMs);
  }
}
