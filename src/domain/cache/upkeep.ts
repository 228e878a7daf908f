// Cache maintenance: removes expired answers, purged answers, and the oldest answers beyond the
// budget.
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
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

export function cacheUpkeep({ database, diskBytes, hot }: UpkeepOptions) {
  const rows = cachedRowsIn(database);
  return async (nowMs: number): Promise<void> => {
    hot.removeExpired();
    for (const accountId of await findPurged(database.read, hot.generations()))
      hot.forget(accountId);
    await rows.remove(sql`expires_at_ms <= ${nowMs} order by expires_at_ms`);
    await removePurged(database);
    await rows.keepWithin({ diskBytes, commitMs }, nowMs);
  };
}
