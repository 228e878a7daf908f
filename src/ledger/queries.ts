// What the ledger tells: balances with all-time totals, which are kept and not summed, and charges page by page.
import type { Kysely } from 'kysely';
import type { Tables } from '../db/schema.ts';
import type { Micros } from '../lib/money.ts';
import { availableMicrosOf, type Charge } from './book.ts';
import type { LedgerId } from './commands.ts';
import { chargeOfRow } from './rows.ts';
import type { UsageCursor } from './usage-cursor.ts';

export type Balance = {
  readonly postedMicros: Micros;
  readonly heldMicros: Micros;
  readonly availableMicros: Micros;
  /** All time; cached input counts as input. */
  readonly inputTokens: number;
  readonly outputTokens: number;
};

/** The balance as of the last commit, or null when there is no such ledger. */
export async function readBalance(db: Kysely<Tables>, ledgerId: LedgerId): Promise<Balance | null> {
  const row = await db.selectFrom('ledgers').selectAll().where('id', '=', ledgerId).executeTakeFirst();
  if (!row) return null;
  const sums = { postedMicros: row.posted_micros, heldMicros: row.held_micros };
  return { ...sums, availableMicros: availableMicrosOf(sums), inputTokens: row.input_tokens, outputTokens: row.output_tokens };
}

export type ChargeQuery = {
  readonly ledgerId: LedgerId;
  /** Charges a page, at least 1. */
  readonly limit: number;
  /** The last charge of the page before; null: from the newest. */
  readonly cursor: UsageCursor | null;
  /** Only the charge of this request. */
  readonly holdId?: string;
};

export type ChargePage = {
  readonly charges: readonly Charge[];
  /** Where the next page goes on; null exactly when this is the last one. */
  readonly next: UsageCursor | null;
};

/** Charges newest first. Those that arrive between two pages neither shift nor repeat one: a page starts after a charge, not at a count. */
export async function listCharges(db: Kysely<Tables>, { ledgerId, limit, cursor, holdId }: ChargeQuery): Promise<ChargePage> {
  let query = db.selectFrom('charges').selectAll().where('ledger_id', '=', ledgerId);
  if (holdId !== undefined) query = query.where('id', '=', holdId);
  if (cursor) {
    query = query.where((eb) => eb(eb.refTuple('created_at_ms', 'id'), '<', eb.tuple(cursor.createdAtMs, cursor.id)));
  }
  // One more than asked for tells whether there is another page.
  const rows = await query
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
  const charges = rows.slice(0, limit).map(chargeOfRow);
  const last = charges.at(-1);
  return { charges, next: rows.length > limit && last ? { createdAtMs: last.createdAtMs, id: last.id } : null };
}
