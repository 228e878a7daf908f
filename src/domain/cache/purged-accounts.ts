// Finds and removes answers of purged accounts, and of accounts that no longer store answers, by
// generation.
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { belowGeneration } from '../../db/below-generation.ts';
import type { Database } from '../../db/database.ts';
import { removeGenerationsBelow } from './cached-rows.ts';

const pageAccounts = 500;

/** Removes rows that were stored during a purge, or left over from an interrupted one. */
export async function removePurged(database: Database): Promise<void> {
  let page = await readPurged(database, '');
  while (page.length > 0) {
    for (const { id, from_generation, is_left } of page) {
      if (is_left) await removeGenerationsBelow(database, id, from_generation);
    }
    await setImmediate();
    page = await readPurged(database, page.at(-1)!.id);
  }
}

/**
 * Removes an account's answers from before its purge at once, without waiting for the upkeep.
 * Returns how many were removed.
 */
export async function removePurgedOf(database: Database, accountId: string): Promise<number> {
  const account = await database.read
    .selectFrom('accounts')
    .select(belowGeneration.as('from_generation'))
    .where('id', '=', accountId)
    .executeTakeFirst();
  return account ? removeGenerationsBelow(database, accountId, account.from_generation) : 0;
}

/**
 * Takes generations by account; returns the accounts that have a newer generation or no longer
 * store answers.
 */
export async function findPurged(
  database: Database,
  generations: ReadonlyMap<string, number>,
): Promise<string[]> {
  const accountIds = [...generations.keys()];
  const purged: string[] = [];
  for (let start = 0; start < accountIds.length; start += pageAccounts) {
    const rows = await database.read
      .selectFrom('accounts')
      .select(['id', belowGeneration.as('from_generation')])
      .where('id', 'in', accountIds.slice(start, start + pageAccounts))
      .execute();
    purged.push(
      ...rows.filter((row) => generations.get(row.id)! < row.from_generation).map((row) => row.id),
    );
  }
  return purged;
}

function readPurged(database: Database, afterId: string) {
  return (
    database.read
      .selectFrom('accounts')
      .select([
        'id',
        belowGeneration.as('from_generation'),
        sql<0 | 1 | boolean>`exists (select 1 from cached_responses
        where cached_responses.account_id = accounts.id and cached_responses.generation < ${belowGeneration})`.as(
          'is_left',
        ),
      ])
      // Matches the condition of a partial index.
      .where(sql<boolean>`(cache_generation > 0 or retain_responses = 0)`)
      .where('id', '>', afterId)
      .orderBy('id')
      .limit(pageAccounts)
      .execute()
  );
}
