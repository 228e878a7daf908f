// Cache maintenance: removes expired answers, those of purged accounts and of accounts that no longer
// store answers, and the oldest answers beyond the budget.
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { belowGeneration, outdatedOf } from '../../db/below-generation.ts';
import type { Database } from '../../db/database.ts';
import type { Db } from '../../db/schema.ts';
import { SizedRows } from '../../db/sized-rows.ts';
import type { ScopedLruCache } from '../../lib/scoped-lru-cache.ts';

type UpkeepOptions = {
  readonly database: Database;
  /** The disk budget of the table. */
  readonly diskBytes: number;
  /** The memory cache, scoped by account. */
  readonly hot: Pick<ScopedLruCache<unknown>, 'generations' | 'forget' | 'removeExpired'>;
};

/** All answers are kept equally long, so the oldest expire first. */
const cached = { table: 'cached_responses', name: 'digest', time: 'expires_at_ms' } as const;
/** The longest time from a row's timestamp to its commit. */
const commitMs = 10_000;
const pageAccounts = 500;

export function cacheUpkeep({ database, diskBytes, hot }: UpkeepOptions) {
  const rows = new SizedRows(database, cached);
  return async (nowMs: number): Promise<void> => {
    hot.removeExpired();
    for (const accountId of await findPurged(database.read, hot.generations()))
      hot.forget(accountId);
    await rows.remove(sql`expires_at_ms <= ${nowMs} order by expires_at_ms`);
    await removePurged(database);
    await rows.keepWithin({ diskBytes, commitMs }, nowMs);
  };
}

/** Removes rows that were stored during a purge, or left over from an interrupted one. */
async function removePurged(database: Database): Promise<void> {
  let page = await readPurged(database.read, '');
  while (page.length > 0) {
    for (const { id, is_left } of page) if (is_left) await removePurgedOf(database, id);
    await setImmediate();
    page = await readPurged(database.read, page.at(-1)!.id);
  }
}

/**
 * Removes an account's answers from before its purge at once, without waiting for the upkeep.
 * Returns how many were removed.
 */
export function removePurgedOf(database: Database, accountId: string): Promise<number> {
  return new SizedRows(database, cached).removeErasedOf(accountId);
}

/**
 * Takes generations by account; returns the accounts that have a newer generation or no longer
 * store answers.
 */
function findPurged(read: Db, generations: ReadonlyMap<string, number>): Promise<string[]> {
  return outdatedOf(generations, (ids) =>
    read
      .selectFrom('accounts')
      .select(['id', belowGeneration.as('from_generation')])
      .where('id', 'in', ids)
      .execute(),
  );
}

function readPurged(read: Db, afterId: string) {
  const isLeft = sql<0 | 1 | boolean>`exists (select 1 from cached_responses
    where cached_responses.account_id = accounts.id and cached_responses.generation < ${belowGeneration})`;
  return (
    read
      .selectFrom('accounts')
      .select(['id', isLeft.as('is_left')])
      // Matches the condition of a partial index.
      .where(sql<boolean>`(cache_generation > 0 or retain_responses = 0)`)
      .where('id', '>', afterId)
      .orderBy('id')
      .limit(pageAccounts)
      .execute()
  );
}
