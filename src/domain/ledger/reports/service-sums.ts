// Figures of the whole service for its operator: whose revenue changed most, what accounts have
// prepaid, and what came in.
import { sql } from 'kysely';
import type { Db } from '../../../db/schema.ts';
import type { Mode } from '../../../terms/mode.ts';
import { accountIdOf, type LedgerId, ledgerIdOf } from '../commands.ts';

/**
 * Returns the accounts whose revenue differs most from that of the days before, in either direction.
 * `beforeDay`: the first of the days before; all days are UTC, and `toDay` is inclusive.
 */
export async function listMovers(
  db: Db,
  {
    mode,
    beforeDay,
    fromDay,
    toDay,
    limit,
  }: Readonly<Record<'beforeDay' | 'fromDay' | 'toDay', string>> & {
    readonly mode: Mode;
    readonly limit: number;
  },
) {
  const now = sql<number>`sum(case when row.day >= ${fromDay} then row.cost_micros else 0 end)`;
  const before = sql<number>`sum(case when row.day < ${fromDay} then row.cost_micros else 0 end)`;
  return db
    .selectFrom('charge_days as row')
    .innerJoin('ledgers', 'ledgers.id', 'row.ledger_id')
    .innerJoin('accounts', 'accounts.id', 'ledgers.account_id')
    .select(['accounts.id as accountId', 'accounts.name'])
    .select([now.as('revenueMicros'), before.as('beforeMicros')])
    .where('ledgers.mode', '=', mode)
    .where('row.day', '>=', beforeDay)
    .where('row.day', '<=', toDay)
    .groupBy(['accounts.id', 'accounts.name'])
    .having(now, '<>', before)
    .orderBy(sql`abs(${now} - ${before})`, 'desc')
    .orderBy('accounts.id')
    .limit(limit)
    .execute();
}

/** Returns, by account, the UTC day of the last live charge. */
export async function readLastDays(
  db: Db,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (accountIds.length === 0) return new Map();
  // A subquery for each ledger reads one row by the primary key, not all days.
  const rows = await db
    .selectFrom('ledgers')
    .select((eb) => [
      'ledgers.id',
      eb
        .selectFrom('charge_days')
        .select('day')
        .whereRef('ledger_id', '=', 'ledgers.id')
        .orderBy('day', 'desc')
        .limit(1)
        .as('day'),
    ])
    .where(
      'ledgers.id',
      'in',
      accountIds.map((id) => ledgerIdOf(id, 'live')),
    )
    .execute();
  return new Map(
    rows.flatMap(({ id, day }) => (day === null ? [] : [[accountIdOf(id as LedgerId), day]])),
  );
}

/**
 * Returns the sums of live balances above zero, which the service owes, and of those below, which
 * accounts owe.
 */
export function sumBalances(db: Db) {
  const sumOf = (amount: ReturnType<typeof sql>) =>
    sql<number>`coalesce(sum(case when ${amount} > 0 then ${amount} else 0 end), 0)`;
  return db
    .selectFrom('ledgers')
    .select([
      sumOf(sql`posted_micros`).as('prepaidMicros'),
      sumOf(sql`-posted_micros`).as('owedMicros'),
    ])
    .where('mode', '=', 'live')
    .executeTakeFirstOrThrow();
}

/** Returns what live balances received: by card, and by hand. Debits are positive figures. */
export function sumCashIn(
  db: Db,
  {
    fromMs,
    toMs,
    cardPrefix,
  }: { readonly fromMs: number; readonly toMs: number; readonly cardPrefix: string },
) {
  const isCard = sql`entries.id like ${`${cardPrefix}%`}`;
  const sumOf = (isIt: ReturnType<typeof sql>) =>
    sql<number>`coalesce(sum(case when ${isIt} then abs(posted_delta_micros) else 0 end), 0)`;
  return (
    db
      .selectFrom('entries')
      .innerJoin('ledgers', 'ledgers.id', 'entries.ledger_id')
      .select([
        sumOf(sql`${isCard} and entries.kind = 'credit'`).as('paidMicros'),
        sumOf(sql`${isCard} and entries.kind = 'debit'`).as('returnedMicros'),
        sumOf(sql`not ${isCard} and entries.kind = 'credit'`).as('creditedMicros'),
        sumOf(sql`not ${isCard} and entries.kind = 'debit'`).as('debitedMicros'),
      ])
      // By the index of adjustments.
      .where('key_id', 'is', null)
      .where('entries.created_at_ms', '>=', fromMs)
      .where('entries.created_at_ms', '<', toMs)
      .where('ledgers.mode', '=', 'live')
      .executeTakeFirstOrThrow()
  );
}
