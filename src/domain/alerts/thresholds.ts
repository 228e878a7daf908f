// Tells owners once when the live balance falls below an amount that they set, and again only after it
// has recovered. Holds of running requests do not count, because they come and go. Every gateway looks;
// the row that one marks decides, in the transaction of the event.
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { Db } from '../../db/schema.ts';
import type { Micros } from '../../lib/money.ts';
import { writeEvent } from './outbox.ts';

/** Returns the amounts, the lowest first. */
export async function readThresholds(db: Db, accountId: string): Promise<readonly Micros[]> {
  const rows = await db
    .selectFrom('balance_thresholds')
    .select('threshold_micros')
    .where('account_id', '=', accountId)
    .orderBy('threshold_micros')
    .execute();
  return rows.map((row) => row.threshold_micros);
}

/** Replaces the amounts. A new one that the balance is below already causes an event. */
export async function writeThresholds(
  write: Db,
  accountId: string,
  thresholds: readonly Micros[],
): Promise<void> {
  await write
    .deleteFrom('balance_thresholds')
    .where('account_id', '=', accountId)
    .$if(thresholds.length > 0, (query) => query.where('threshold_micros', 'not in', thresholds))
    .execute();
  for (const threshold_micros of thresholds)
    await write
      .insertInto('balance_thresholds')
      .values({ account_id: accountId, threshold_micros, warned_at_ms: null })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
}

const accountsMax = 200;
const liveBalance = sql<Micros>`(select posted_micros from ledgers where ledgers.id = balance_thresholds.account_id || ':live')`;

/** Writes an event for each account whose balance fell below amounts, about the lowest of them. */
export async function tellLowBalances(database: Database, nowMs: number): Promise<void> {
  await forgetRecovered(database);
  const low = await database.read
    .selectFrom('balance_thresholds')
    .innerJoin('accounts', 'accounts.id', 'account_id')
    .select(['accounts.id', 'accounts.name', liveBalance.as('balance_micros')])
    .select(({ fn }) => fn.min('threshold_micros').as('threshold_micros'))
    .where('warned_at_ms', 'is', null)
    .where(sql<boolean>`${liveBalance} < threshold_micros`)
    .groupBy(['accounts.id', 'accounts.name', 'account_id'])
    .limit(accountsMax)
    .execute();
  for (const { id, name, balance_micros, threshold_micros } of low)
    await database.write.transaction().execute(async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable('balance_thresholds')
        .set({ warned_at_ms: nowMs })
        .where('account_id', '=', id)
        .where('threshold_micros', '>', balance_micros)
        .where('warned_at_ms', 'is', null)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return;
      const data = { account_id: id, account_name: name, balance_micros, threshold_micros };
      const about = { accountId: id, onceKey: null };
      await writeEvent(transaction, { type: 'balance.low', data, ...about }, nowMs);
    });
}

async function forgetRecovered({ read, write }: Database): Promise<void> {
  const isRecovered = sql<boolean>`warned_at_ms is not null and ${liveBalance} >= threshold_micros`;
  const query = read.selectFrom('balance_thresholds').select('account_id').where(isRecovered);
  if (!(await query.limit(1).executeTakeFirst())) return;
  await write
    .updateTable('balance_thresholds')
    .set({ warned_at_ms: null })
    .where(isRecovered)
    .execute();
}
