// Figures of the whole service for its operator: whose revenue changed most, what accounts have
// prepaid, and what came in.
import { type Kysely, sql } from 'kysely';
import type { Mode } from '../../../terms/mode.ts';
import type { Tables } from '../../../db/schema.ts';
import { accountIdOf, type LedgerId, ledgerIdOf } from '../commands.ts';

/** PostgreSQL returns sums as text, because they may exceed its integers. */
type Sum = number | string | null;

type Mover = {
  readonly accountId: string;
  readonly name: string;
  readonly revenueMicros: number;
  readonly beforeMicros: number;
};

/**
 * Returns the accounts whose revenue differs most from that of the days before, in either direction.
 * `beforeDay`: the first of the days before; all days are UTC, and `toDay` is inclusive.
 */
export async function listMovers(
  db: Kysely<Tables>,
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
): Promise<readonly Mover[]> {
  const now = sql<Sum>`sum(case when row.day >= ${fromDay} then row.cost_micros else 0 end)`;
  const before = sql<Sum>`sum(case when row.day < ${fromDay} then row.cost_micros else 0 end)`;
  const rows = await db
    .selectFrom('charge_days as row')
    .innerJoin('ledgers', 'ledgers.id', 'row.ledger_id')
    .innerJoin('accounts', 'accounts.id', 'ledgers.account_id')
    .select(['accounts.id', 'accounts.name', now.as('now'), before.as('before')])
    .where('ledgers.mode', '=', mode)
    .where('row.day', '>=', beforeDay)
    .where('row.day', '<=', toDay)
    .groupBy(['accounts.id', 'accounts.name'])
    .having(now, '<>', before)
    .orderBy(sql`abs(${now} - ${before})`, 'desc')
    .orderBy('accounts.id')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    accountId: row.id,
    name: row.name,
    revenueMicros: Number(row.now),
    beforeMicros: Number(row.before),
  }));
}

/** Returns, by account, the UTC day of the last live charge. */
export async function readLastDays(
  db: Kysely<Tables>,
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

/** In microdollars of live ledgers. */
type Prepaid = {
  /** Balances above zero: what the service owes its accounts. */
  readonly prepaidMicros: number;
  /** Balances below zero, as a positive figure: what accounts owe. */
  readonly owedMicros: number;
};

export async function sumBalances(db: Kysely<Tables>): Promise<Prepaid> {
  const row = await db
    .selectFrom('ledgers')
    .select([
      sql<Sum>`sum(case when posted_micros > 0 then posted_micros else 0 end)`.as('prepaid'),
      sql<Sum>`sum(case when posted_micros < 0 then -posted_micros else 0 end)`.as('owed'),
    ])
    .where('mode', '=', 'live')
    .executeTakeFirstOrThrow();
  return { prepaidMicros: Number(row.prepaid), owedMicros: Number(row.owed) };
}

/** Returns what live balances received: by card, and by hand. Debits are positive figures. */
export async function sumCashIn(
  db: Kysely<Tables>,
  {
    fromMs,
    toMs,
    cardPrefix,
  }: { readonly fromMs: number; readonly toMs: number; readonly cardPrefix: string },
) {
  const isCard = sql`entries.id like ${`${cardPrefix}%`}`;
  const sumOf = (isIt: ReturnType<typeof sql>) =>
    sql<Sum>`sum(case when ${isIt} then abs(posted_delta_micros) else 0 end)`;
  const row = await db
    .selectFrom('entries')
    .innerJoin('ledgers', 'ledgers.id', 'entries.ledger_id')
    .select([
      sumOf(sql`${isCard} and entries.kind = 'credit'`).as('paid'),
      sumOf(sql`${isCard} and entries.kind = 'debit'`).as('returned'),
      sumOf(sql`not ${isCard} and entries.kind = 'credit'`).as('credited'),
      sumOf(sql`not ${isCard} and entries.kind = 'debit'`).as('debited'),
    ])
    // By the index of adjustments.
    .where('key_id', 'is', null)
    .where('entries.created_at_ms', '>=', fromMs)
    .where('entries.created_at_ms', '<', toMs)
    .where('ledgers.mode', '=', 'live')
    .executeTakeFirstOrThrow();
  return {
    paidMicros: Number(row.paid),
    returnedMicros: Number(row.returned),
    creditedMicros: Number(row.credited),
    debitedMicros: Number(row.debited),
  };
}
