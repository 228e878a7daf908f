// Reads and forgives provoked losses, using the ledger's daily sums.
import { sql } from 'kysely';
import type { Db } from '../../../db/schema.ts';
import { type Micros, micros, zeroMicros } from '../../../lib/money.ts';
import type { Mode } from '../../../terms/mode.ts';
import { type LedgerId, ledgerIdOf } from '../commands.ts';

/** An account's losses and charges in a period. */
export type Losses = {
  /** Without forgiven losses. */
  readonly causedMicros: Micros;
  /** The same by day, oldest first; days without losses are missing. */
  readonly days: readonly { readonly day: string; readonly micros: Micros }[];
  /** Charges in the same days. */
  readonly spentMicros: Micros;
};

export type LossPage = {
  readonly mode: Mode;
  readonly after: string | null;
  readonly limit: number;
};

type LossQuery = {
  /** Absent: all ledgers. */
  readonly ledgerId?: LedgerId | undefined;
  /** Only so many ledgers of a mode, by account id after one; null: from the first. */
  readonly page?: LossPage | undefined;
  /** The first UTC day: `2026-11-21`. */
  readonly fromDay: string;
};

/** Returns the ledgers that have losses, or the one that was asked for. */
export async function readLosses(db: Db, query: LossQuery): Promise<ReadonlyMap<LedgerId, Losses>> {
  const { ledgerId, fromDay, page } = query;
  const withLosses = db
    .selectFrom('loss_days')
    .where('day', '>=', fromDay)
    .whereRef('forgiven_micros', '<', 'provoked_micros');
  const ledgers = (of: LossPage) =>
    withLosses
      .select('ledger_id')
      .distinct()
      .where('ledger_id', 'like', `%:${of.mode}`)
      .where('ledger_id', '>', of.after === null ? '' : ledgerIdOf(of.after, of.mode))
      .orderBy('ledger_id')
      .limit(of.limit);
  const rows = await withLosses
    .select(['ledger_id', 'day', sql<Micros>`provoked_micros - forgiven_micros`.as('micros')])
    .$if(ledgerId !== undefined, (select) => select.where('ledger_id', '=', ledgerId!))
    .$if(page !== undefined, (select) => select.where('ledger_id', 'in', ledgers(page!)))
    .orderBy('day')
    .execute();
  const byLedger = Map.groupBy(rows, (row) => row.ledger_id as LedgerId);
  const losses = new Map<LedgerId, Losses>();
  for (const id of ledgerId === undefined ? byLedger.keys() : [ledgerId]) {
    const days = (byLedger.get(id) ?? []).map(({ day, micros: lost }) => ({ day, micros: lost }));
    const causedMicros = micros(days.reduce((sum, day) => sum + day.micros, 0));
    losses.set(id, {
      causedMicros,
      days,
      spentMicros: await sumSpent(db, { ledgerId: id, fromDay }),
    });
  }
  return losses;
}

async function sumSpent(
  db: Db,
  { ledgerId, fromDay }: LossQuery & { readonly ledgerId: LedgerId },
): Promise<Micros> {
  const { spent } = await db
    .selectFrom('charge_days')
    .select(({ fn }) => fn.sum<Micros | null>('cost_micros').as('spent'))
    .where('ledger_id', '=', ledgerId)
    .where('day', '>=', fromDay)
    .executeTakeFirstOrThrow();
  return spent ?? zeroMicros;
}

/**
 * Removes the losses of the account's live ledger until now from its budget. Returns the newly
 * forgiven amount. Runs in the caller's transaction.
 */
export async function forgiveLosses(transaction: Db, accountId: string): Promise<Micros> {
  const ledgerId = ledgerIdOf(accountId, 'live');
  const update = transaction.updateTable('loss_days').where('ledger_id', '=', ledgerId);
  // A no-op update locks the rows on both databases, so that no loss is booked between the sum and
  // the change.
  await update.set((eb) => ({ forgiven_micros: eb.ref('forgiven_micros') })).execute();
  const losses = (await readLosses(transaction, { ledgerId, fromDay: '' })).get(ledgerId);
  await update.set((eb) => ({ forgiven_micros: eb.ref('provoked_micros') })).execute();
  return losses?.causedMicros ?? zeroMicros;
}
