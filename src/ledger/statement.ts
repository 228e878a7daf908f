// What moved a balance, as an account's owner reads it: credits and debits one by one, and the charges of each UTC day in one line. All
// lines together come to the posted balance.
import type { Kysely } from 'kysely';
import type { Tables } from '../db/schema.ts';
import { type Micros, micros } from '../lib/money.ts';
import type { LedgerId } from './commands.ts';
import type { UsageCursor } from './usage-cursor.ts';
import { dayOf, nextDayMs } from './window.ts';

export type StatementLine =
  | {
      readonly kind: 'credit' | 'debit';
      readonly id: string;
      /** Above 0 for a credit, below for a debit. */
      readonly amountMicros: Micros;
      readonly note: string | null;
      /** Right after it. */
      readonly availableMicros: Micros;
      readonly createdAtMs: number;
    }
  | {
      readonly kind: 'charges';
      /** `2026-11-21` */
      readonly day: string;
      readonly requests: number;
      /** Below 0. Of the present day, so far. */
      readonly amountMicros: Micros;
    };

export type StatementQuery = {
  readonly ledgerId: LedgerId;
  /** Lines a page, at least 1. */
  readonly limit: number;
  /** The end of the page before; null: from the newest. */
  readonly cursor: UsageCursor | null;
};

export type StatementPage = {
  readonly lines: readonly StatementLine[];
  /** Where the next page goes on; null exactly when this is the last one. */
  readonly next: UsageCursor | null;
};

/** Newest first. The charges of a day stand at its end, above what was credited and debited on it. */
export async function listStatement(db: Kysely<Tables>, query: StatementQuery): Promise<StatementPage> {
  const { limit } = query;
  const placed = [...(await readAdjustments(db, query)), ...(await readDays(db, query))].toSorted(newestFirst);
  const page = placed.slice(0, limit);
  const last = page.at(-1);
  return {
    lines: page.map(({ line }) => line),
    next: placed.length > limit && last ? { createdAtMs: last.timeMs, id: last.seq === dayEnd ? 'day' : String(last.seq) } : null,
  };
}

/** A line with its place in the order. */
type Placed = { readonly timeMs: number; readonly seq: number; readonly line: StatementLine };

/** Behind every entry of the day. */
const dayEnd = Number.MAX_SAFE_INTEGER;

function newestFirst(one: Placed, other: Placed): number {
  return other.timeMs - one.timeMs || other.seq - one.seq;
}

async function readAdjustments(db: Kysely<Tables>, { ledgerId, limit, cursor }: StatementQuery): Promise<readonly Placed[]> {
  // Credits and debits are no key's, everything else is.
  let query = db.selectFrom('entries').selectAll().where('ledger_id', '=', ledgerId).where('key_id', 'is', null);
  if (cursor) {
    query = query.where((eb) => eb(eb.refTuple('created_at_ms', 'seq'), '<', eb.tuple(cursor.createdAtMs, seqOf(cursor))));
  }
  const rows = await query
    .orderBy('created_at_ms', 'desc')
    .orderBy('seq', 'desc')
    .limit(limit + 1)
    .execute();
  return rows.map((row) => ({
    timeMs: row.created_at_ms,
    seq: row.seq,
    line: {
      kind: row.kind === 'credit' ? 'credit' : 'debit',
      id: row.id,
      amountMicros: row.posted_delta_micros,
      note: row.note,
      availableMicros: row.available_micros,
      createdAtMs: row.created_at_ms,
    },
  }));
}

/** What no page has ended with is read as the end of its day. */
function seqOf({ id }: UsageCursor): number {
  return /^\d{1,15}$/.test(id) ? Number(id) : dayEnd;
}

/** Whatever the page before ended with, the charges of its day stand on it, or on one before. */
async function readDays(db: Kysely<Tables>, { ledgerId, limit, cursor }: StatementQuery): Promise<readonly Placed[]> {
  let query = db
    .selectFrom('charge_days')
    .select(({ fn }) => [
      'day',
      fn.sum<number | string>('requests').as('requests'),
      fn.sum<number | string>('cost_micros').as('cost'),
    ])
    .where('ledger_id', '=', ledgerId);
  if (cursor) query = query.where('day', '<', dayOf(cursor.createdAtMs));
  const rows = await query
    .groupBy('day')
    .orderBy('day', 'desc')
    .limit(limit + 1)
    .execute();
  return rows.map(({ day, requests, cost }) => ({
    timeMs: nextDayMs(Date.parse(day)) - 1,
    seq: dayEnd,
    line: { kind: 'charges', day, requests: Number(requests), amountMicros: micros(0 - Number(cost)) },
  }));
}
