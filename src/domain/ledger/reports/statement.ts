// An account statement for its owner: each credit and debit, and the charges of each UTC day in one
// line. All lines add up to the posted balance.
import { type InferResult, sql } from 'kysely';
import type { Db } from '../../../db/schema.ts';
import { type Micros, micros } from '../../../lib/money.ts';
import type { LedgerId } from '../commands.ts';
import type { EntryRow } from '../columns.ts';
import type { UsageCursor } from './usage-cursor.ts';
import { dayMs, dayOf, nextDayMs } from '../../../lib/utc-time.ts';

/** A line without what follows from others. */
export type LineRead =
  | {
      readonly kind: 'credit' | 'debit';
      readonly id: string;
      /** Positive for a credit, negative for a debit. */
      readonly amountMicros: Micros;
      readonly note: string | null;
      /** The available balance right after it. */
      readonly availableMicros: Micros;
      readonly createdAtMs: number;
    }
  | {
      readonly kind: 'charges';
      /** `2026-11-21` */
      readonly day: string;
      readonly requests: number;
      /** Negative. For the current day, the sum so far. */
      readonly amountMicros: Micros;
    };

export type StatementLine =
  | Exclude<LineRead, { readonly kind: 'charges' }>
  /** `balanceMicros`: posted at the end of the day, or now. */
  | (Extract<LineRead, { readonly kind: 'charges' }> & { readonly balanceMicros: Micros });

/** Which lines: the credits and debits, or the days of charges. */
export type StatementKind = 'adjustments' | 'charges';

type StatementQuery = {
  readonly ledgerId: LedgerId;
  /** Lines per page, at least 1. */
  readonly limit: number;
  /** The cursor of the previous page; null starts at the newest. */
  readonly cursor: UsageCursor | null;
  /** Default: all. */
  readonly only?: StatementKind | undefined;
};

type StatementPage = {
  readonly lines: readonly StatementLine[];
  /** The cursor of the next page; null exactly on the last page. */
  readonly next: UsageCursor | null;
};

/**
 * Returns lines, newest first. The charges of a day are at its end, above its credits and debits.
 */
export async function listStatement(db: Db, query: StatementQuery): Promise<StatementPage> {
  const { ledgerId, limit, only } = query;
  const ordered = [
    ...(only === 'charges' ? [] : await readAdjustments(db, query)),
    ...(only === 'adjustments' ? [] : await readDays(db, query)),
  ].toSorted(newestFirst);
  const page = ordered.slice(0, limit);
  const last = page.at(-1);
  return {
    lines: await withBalances(db, ledgerId, page),
    next:
      ordered.length > limit && last
        ? { createdAtMs: last.timeMs, id: last.seq === dayEnd ? 'day' : String(last.seq) }
        : null,
  };
}

export type TimedLine = { readonly timeMs: number; readonly line: LineRead };

type OrderedLine = TimedLine & { readonly seq: number };

/** Sorts after every entry of the day. */
const dayEnd = Number.MAX_SAFE_INTEGER;

function newestFirst(one: OrderedLine, other: OrderedLine): number {
  return other.timeMs - one.timeMs || other.seq - one.seq;
}

/** Sums once, then goes back from day to day. Adjustments that are not on the page count too. */
async function withBalances(
  db: Db,
  ledgerId: LedgerId,
  page: readonly TimedLine[],
): Promise<StatementLine[]> {
  const ends = page.flatMap(({ line, timeMs }) => (line.kind === 'charges' ? [timeMs] : []));
  if (ends.length === 0) return page.map(({ line }) => line as StatementLine);
  const [newestMs, oldestMs] = [ends[0]!, ends.at(-1)!];
  const dayNumber = sql<number>`created_at_ms / ${sql.lit(dayMs)}`;
  const adjusted = await db
    .selectFrom('entries')
    .select(({ fn }) => [dayNumber.as('day'), fn.sum<number>('posted_delta_micros').as('sum')])
    .where('ledger_id', '=', ledgerId)
    .where('key_id', 'is', null)
    .where('created_at_ms', '>', oldestMs)
    .where('created_at_ms', '<=', newestMs)
    .groupBy(dayNumber)
    .orderBy(dayNumber, 'desc')
    .execute();
  let balance = await balanceAt(db, ledgerId, newestMs + 1);
  return page.map(({ line, timeMs }) => {
    if (line.kind !== 'charges') return line;
    for (; adjusted[0] && adjusted[0].day * dayMs > timeMs; adjusted.shift())
      balance -= adjusted[0].sum;
    const balanceMicros = micros(balance);
    balance -= line.amountMicros;
    return { ...line, balanceMicros };
  });
}

/** Returns the posted balance before a UTC day begins. */
export async function balanceAt(db: Db, ledgerId: LedgerId, dayStartsMs: number): Promise<number> {
  const adjusted = await db
    .selectFrom('entries')
    .select(({ fn }) => fn.sum<number | null>('posted_delta_micros').as('sum'))
    .where('ledger_id', '=', ledgerId)
    .where('key_id', 'is', null)
    .where('created_at_ms', '<', dayStartsMs)
    .executeTakeFirstOrThrow();
  const charged = await db
    .selectFrom('charge_days')
    .select(({ fn }) => fn.sum<number | null>('cost_micros').as('sum'))
    .where('ledger_id', '=', ledgerId)
    .where('day', '<', dayOf(dayStartsMs))
    .executeTakeFirstOrThrow();
  return (adjusted.sum ?? 0) - (charged.sum ?? 0);
}

async function readAdjustments(
  db: Db,
  { ledgerId, limit, cursor }: StatementQuery,
): Promise<readonly OrderedLine[]> {
  // Only credits and debits have no key.
  let query = db
    .selectFrom('entries')
    .selectAll()
    .where('ledger_id', '=', ledgerId)
    .where('key_id', 'is', null);
  if (cursor) {
    query = query.where((eb) =>
      eb(eb.refTuple('created_at_ms', 'seq'), '<', eb.tuple(cursor.createdAtMs, seqOf(cursor))),
    );
  }
  const rows = await query
    .orderBy('created_at_ms', 'desc')
    .orderBy('seq', 'desc')
    .limit(limit + 1)
    .execute();
  return rows.map((row) => ({ ...adjustmentOf(row), seq: row.seq }));
}

export function adjustmentOf(row: EntryRow): TimedLine {
  return {
    timeMs: row.created_at_ms,
    line: {
      kind: row.kind === 'credit' ? 'credit' : 'debit',
      id: row.id,
      amountMicros: row.posted_delta_micros,
      note: row.note,
      availableMicros: row.available_micros,
      createdAtMs: row.created_at_ms,
    },
  };
}

/** A cursor that does not name an entry means the end of its day. */
function seqOf({ id }: UsageCursor): number {
  return /^\d{1,15}$/.test(id) ? Number(id) : dayEnd;
}

/** The charges of the cursor's day were on the previous page or an earlier one. */
async function readDays(
  db: Db,
  { ledgerId, limit, cursor }: StatementQuery,
): Promise<readonly OrderedLine[]> {
  let query = selectDays(db, ledgerId);
  if (cursor) query = query.where('day', '<', dayOf(cursor.createdAtMs));
  const rows = await query
    .orderBy('day', 'desc')
    .limit(limit + 1)
    .execute();
  return rows.map((row) => ({ ...chargesOf(row), seq: dayEnd }));
}

export function selectDays(db: Db, ledgerId: LedgerId) {
  return db
    .selectFrom('charge_days')
    .select(({ fn }) => [
      'day',
      fn.sum<number>('requests').as('requests'),
      fn.sum<number>('cost_micros').as('cost'),
    ])
    .where('ledger_id', '=', ledgerId)
    .groupBy('day');
}

/** Returns the line of a day's charges, at the end of the day. */
export function chargesOf(row: InferResult<ReturnType<typeof selectDays>>[number]): TimedLine {
  return {
    timeMs: nextDayMs(Date.parse(row.day)) - 1,
    line: {
      kind: 'charges',
      day: row.day,
      requests: row.requests,
      amountMicros: micros(0 - row.cost),
    },
  };
}
