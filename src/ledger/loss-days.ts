// The losses that an account could provoke, by UTC day, kept in the transaction of each entry. `tollgate verify` adds them up anew.
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../db/schema.ts';
import { type Micros, micros, zeroMicros } from '../lib/money.ts';
import type { Entry } from './book.ts';
import { type LedgerId, ledgerIdOf } from './commands.ts';
import { dayOf } from './window.ts';

export type LossDayRow = { readonly ledger_id: string; readonly day: string; readonly provoked_micros: Micros };

/** One row for each ledger and day, with what these entries add to it. */
export function sumProvoked(entries: readonly Entry[]): readonly LossDayRow[] {
  const rows = new Map<string, LossDayRow>();
  for (const entry of entries) addToLossDay(rows, entry);
  return [...rows.values()];
}

/** Adds the loss of an entry to its row, by `lossDayId`, if the account could provoke it. */
export function addToLossDay(rows: Map<string, LossDayRow>, { ledgerId, lossMicros, isProvoked, createdAtMs }: Entry): void {
  if (!isProvoked) return;
  const row = { ledger_id: ledgerId, day: dayOf(createdAtMs), provoked_micros: lossMicros };
  const id = lossDayId(row);
  const known = rows.get(id)?.provoked_micros ?? 0;
  rows.set(id, { ...row, provoked_micros: micros(known + lossMicros) });
}

export function lossDayId({ ledger_id, day }: LossDayRow): string {
  return `${ledger_id} ${day}`;
}

/** Of an insert that meets the row of its day. */
export const addedToLossDay = `on conflict (ledger_id, day) do update set
  provoked_micros = loss_days.provoked_micros + excluded.provoked_micros`;

/** What an account has cost and paid in a time. */
export type Losses = {
  /** Not forgiven. */
  readonly provokedMicros: Micros;
  /** The same by day, oldest first; a day without any is left out. */
  readonly days: readonly { readonly day: string; readonly micros: Micros }[];
  /** What it was charged in the same days. */
  readonly spentMicros: Micros;
};

type LossQuery = {
  /** Left out: all ledgers. */
  readonly ledgerId?: LedgerId | undefined;
  /** The first UTC day: `2026-11-21`. */
  readonly fromDay: string;
};

/** Of the ledgers that have any. */
export async function readLosses(db: Kysely<Tables>, query: LossQuery): Promise<ReadonlyMap<LedgerId, Losses>> {
  const { ledgerId, fromDay } = query;
  const rows = await db
    .selectFrom('loss_days')
    .select(['ledger_id', 'day', sql<number>`provoked_micros - forgiven_micros`.as('micros')])
    .where('day', '>=', fromDay)
    .whereRef('forgiven_micros', '<', 'provoked_micros')
    .$if(ledgerId !== undefined, (select) => select.where('ledger_id', '=', ledgerId!))
    .orderBy('day')
    .execute();
  const byLedger = Map.groupBy(rows, (row) => row.ledger_id as LedgerId);
  const losses = new Map<LedgerId, Losses>();
  for (const [id, found] of byLedger) {
    const days = found.map((row) => ({ day: row.day, micros: micros(row.micros) }));
    const provokedMicros = micros(days.reduce((sum, day) => sum + day.micros, 0));
    losses.set(id, { provokedMicros, days, spentMicros: await sumSpent(db, { ledgerId: id, fromDay }) });
  }
  return losses;
}

async function sumSpent(db: Kysely<Tables>, { ledgerId, fromDay }: LossQuery & { readonly ledgerId: LedgerId }): Promise<Micros> {
  const { spent } = await db
    .selectFrom('charge_days')
    .select(({ fn }) => fn.sum<number | string | null>('cost_micros').as('spent'))
    .where('ledger_id', '=', ledgerId)
    .where('day', '>=', fromDay)
    .executeTakeFirstOrThrow();
  return micros(Number(spent ?? 0));
}

/**
 * The losses of the account's live ledger until now no longer count against its budget. Returns how much is forgiven anew; `transaction` is
 * the caller's.
 */
export async function forgiveLosses(transaction: Kysely<Tables>, accountId: string): Promise<Micros> {
  const ledgerId = ledgerIdOf(accountId, 'live');
  const update = transaction.updateTable('loss_days').where('ledger_id', '=', ledgerId);
  // A write that changes nothing locks the rows on either database, so that no loss is booked between sum and change.
  await update.set((eb) => ({ forgiven_micros: eb.ref('forgiven_micros') })).execute();
  const losses = (await readLosses(transaction, { ledgerId, fromDay: '' })).get(ledgerId);
  await update.set((eb) => ({ forgiven_micros: eb.ref('provoked_micros') })).execute();
  return losses?.provokedMicros ?? zeroMicros;
}
