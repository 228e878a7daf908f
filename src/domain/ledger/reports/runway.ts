// How long a balance lasts at the pace of the last seven complete UTC days. Today is left out,
// because it is not over. Days before the first charge of these days do not count either.
import { sql } from 'kysely';
import type { Db } from '../../../db/schema.ts';
import { type Micros, micros } from '../../../lib/money.ts';
import type { LedgerId } from '../commands.ts';
import { dayMs, dayOf } from '../../../lib/utc-time.ts';

const windowDays = 7;

export type Pace = {
  /** Average spend of a day, above 0. */
  readonly dailyMicros: Micros;
  /** The number of days that it is the average of, from 1 to 7. */
  readonly days: number;
};

/** Returns null when nothing was spent. */
export async function readPace(db: Db, ledgerId: LedgerId, nowMs: number): Promise<Pace | null> {
  const { firstDay, today } = windowAt(nowMs);
  const row = await db
    .selectFrom('charge_days')
    .select(({ fn }) => [
      fn.sum<number | null>('cost_micros').as('spent'),
      fn.min<string | null>('day').as('first'),
    ])
    .where('ledger_id', '=', ledgerId)
    .where('day', '>=', firstDay)
    .where('day', '<', today)
    .executeTakeFirstOrThrow();
  return row.first === null ? null : paceOf(row.spent!, daysFrom(row.first, today));
}

/** Returns whole days, at least 0: a balance below zero has run out. */
export function daysLeft(availableMicros: number, { dailyMicros }: Pace): number {
  return Math.max(0, Math.floor(availableMicros / dailyMicros));
}

export type LowBalance = {
  readonly accountId: string;
  readonly name: string;
  readonly availableMicros: Micros;
  readonly pace: Pace;
};

/** Returns the live balances that last less than `withinDays`, the shortest first. */
export async function listLowBalances(
  db: Db,
  {
    nowMs,
    withinDays,
    limit,
  }: { readonly nowMs: number; readonly withinDays: number; readonly limit: number },
): Promise<readonly LowBalance[]> {
  const { firstDay, today } = windowAt(nowMs);
  const available = sql<Micros>`(ledgers.posted_micros - ledgers.held_micros)`;
  const spent = sql<number>`sum(row.cost_micros)`;
  const days = daysSinceFirst(nowMs);
  const rows = await db
    .selectFrom('charge_days as row')
    .innerJoin('ledgers', 'ledgers.id', 'row.ledger_id')
    .innerJoin('accounts', 'accounts.id', 'ledgers.account_id')
    .select(['accounts.id as accountId', 'name', available.as('availableMicros')])
    .select([spent.as('spent'), days.as('days')])
    .where('ledgers.mode', '=', 'live')
    .where('accounts.frozen', '=', 0)
    .where('row.day', '>=', firstDay)
    .where('row.day', '<', today)
    .groupBy(['accounts.id', 'accounts.name', 'ledgers.posted_micros', 'ledgers.held_micros'])
    .having(spent, '>', 0)
    .having(sql<boolean>`${available} * ${days} < ${sql.lit(withinDays)} * ${spent}`)
    .orderBy(sql`1.0 * ${available} * ${days} / ${spent}`)
    .orderBy('accounts.id')
    .limit(limit)
    .execute();
  return rows.map(({ spent: spentMicros, days: counted, ...row }) => ({
    ...row,
    pace: paceOf(spentMicros, counted)!,
  }));
}

function windowAt(nowMs: number) {
  return { firstDay: dayOf(nowMs - windowDays * dayMs), today: dayOf(nowMs) };
}

function daysFrom(day: string, today: string): number {
  return (Date.parse(today) - Date.parse(day)) / dayMs;
}

/** `daysFrom` of the group's first day, in SQL. */
function daysSinceFirst(nowMs: number) {
  const cases = Array.from(
    { length: windowDays },
    (_, index) =>
      sql`when ${sql.lit(dayOf(nowMs - (index + 1) * dayMs))} then ${sql.lit(index + 1)}`,
  );
  return sql<number>`(case min(row.day) ${sql.join(cases, sql` `)} end)`;
}

/** Rounded up, so that the balance never lasts shorter than it is said to. */
function paceOf(spentMicros: number, days: number): Pace | null {
  return spentMicros === 0 ? null : { dailyMicros: micros(Math.ceil(spentMicros / days)), days };
}
