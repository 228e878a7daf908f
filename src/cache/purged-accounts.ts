// Accounts whose answers were purged, or that keep none any more: what is left of theirs is found by the generation.
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { removeGenerationsBelow } from './cached-rows.ts';

const pageAccounts = 500;

/** Removes what was stored while its account was purged, or what an interrupted purge has left. */
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

/** Removes what an account has from before its purge, from now on and not in a minute. Returns how many answers that were. */
export async function removePurgedOf(database: Database, accountId: string): Promise<number> {
  const account = await database.read
    .selectFrom('accounts')
    .select(fromGeneration.as('from_generation'))
    .where('id', '=', accountId)
    .executeTakeFirst();
  return account ? removeGenerationsBelow(database, accountId, account.from_generation) : 0;
}

/** Of accounts and the generations that are known of them, those that have a newer one, or keep no answers. */
export async function findPurged(database: Database, generations: ReadonlyMap<string, number>): Promise<string[]> {
  const accountIds = [...generations.keys()];
  const purged: string[] = [];
  for (let start = 0; start < accountIds.length; start += pageAccounts) {
    const rows = await database.read
      .selectFrom('accounts')
      .select(['id', fromGeneration.as('from_generation')])
      .where('id', 'in', accountIds.slice(start, start + pageAccounts))
      .execute();
    purged.push(...rows.filter((row) => generations.get(row.id)! < row.from_generation).map((row) => row.id));
  }
  return purged;
}

/** The lowest generation whose answers may stay; of an account that keeps none, one that nothing has. */
const fromGeneration = sql<number>`(accounts.cache_generation + 1 - accounts.retain_responses)`;

function readPurged(database: Database, afterId: string) {
  return (
    database.read
      .selectFrom('accounts')
      .select([
        'id',
        fromGeneration.as('from_generation'),
        sql<0 | 1 | boolean>`exists (select 1 from cached_responses
        where cached_responses.account_id = accounts.id and cached_responses.generation < ${fromGeneration})`.as('is_left'),
      ])
      // As the index of these accounts has it.
      .where(sql<boolean>`(cache_generation > 0 or retain_responses = 0)`)
      .where('id', '>', afterId)
      .orderBy('id')
      .limit(pageAccounts)
      .execute()
  );
}
