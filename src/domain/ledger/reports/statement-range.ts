// A statement of a range of days for a file: oldest first, with the balance after each line. The
// charges of a day are at its end. Opening balance and lines add up to the closing balance.
import { setImmediate } from 'node:timers/promises';
import type { Db } from '../../../db/schema.ts';
import { type Micros, micros } from '../../../lib/money.ts';
import type { LedgerId } from '../commands.ts';
import { dayOf, nextDayMs } from '../../../lib/utc-time.ts';
import {
  adjustmentOf,
  balanceAt,
  chargesOf,
  selectDays,
  type LineRead,
  type TimedLine,
} from './statement.ts';

export type RangeLine =
  | {
      readonly kind: 'opening' | 'closing';
      readonly timeMs: number;
      readonly balanceMicros: Micros;
    }
  | (LineRead & { readonly timeMs: number; readonly balanceMicros: Micros });

type RangeQuery = {
  readonly ledgerId: LedgerId;
  /** Starts of UTC days in Unix milliseconds; `toMs` is exclusive. */
  readonly fromMs: number;
  readonly toMs: number;
};

const daysAtOnce = 100;
const rowsAtOnce = 500;

/**
 * Yields the lines as they are read. What is booked meanwhile may be missing, but the lines that are
 * there add up.
 */
export async function* statementOf(db: Db, query: RangeQuery): AsyncGenerator<RangeLine, void> {
  let balance = await balanceAt(db, query.ledgerId, query.fromMs);
  yield { kind: 'opening', timeMs: query.fromMs, balanceMicros: micros(balance) };
  for await (const { timeMs, line } of linesOf(db, query)) {
    balance += line.amountMicros;
    yield { ...line, timeMs, balanceMicros: micros(balance) };
  }
  yield { kind: 'closing', timeMs: query.toMs - 1, balanceMicros: micros(balance) };
}

async function* linesOf(db: Db, query: RangeQuery): AsyncGenerator<TimedLine, void> {
  let fromMs = query.fromMs;
  while (fromMs < query.toMs) {
    const days = await readDays(db, { ...query, fromMs });
    // The lines up to the last of these days; all that are left when there are no more days.
    const isLast = days.length < daysAtOnce;
    const toMs = isLast ? query.toMs : nextDayMs(days.at(-1)!.timeMs);
    yield* merge(days, adjustmentsOf(db, { ...query, fromMs, toMs }));
    fromMs = toMs;
    // SQLite is read in this thread, so waiting work gets a turn here.
    await setImmediate();
  }
}

/** Merges two lists that are in order of time. */
async function* merge(
  days: readonly TimedLine[],
  adjustments: AsyncGenerator<TimedLine, void>,
): AsyncGenerator<TimedLine, void> {
  let next = 0;
  for await (const adjustment of adjustments) {
    while (next < days.length && days[next]!.timeMs < adjustment.timeMs) yield days[next++]!;
    yield adjustment;
  }
  yield* days.slice(next);
}

async function* adjustmentsOf(
  db: Db,
  { ledgerId, fromMs, toMs }: RangeQuery,
): AsyncGenerator<TimedLine, void> {
  let after = { timeMs: fromMs, seq: -1 };
  for (;;) {
    const rows = await db
      .selectFrom('entries')
      .selectAll()
      .where('ledger_id', '=', ledgerId)
      // Only credits and debits have no key.
      .where('key_id', 'is', null)
      .where((eb) =>
        eb(eb.refTuple('created_at_ms', 'seq'), '>', eb.tuple(after.timeMs, after.seq)),
      )
      .where('created_at_ms', '<', toMs)
      .orderBy('created_at_ms')
      .orderBy('seq')
      .limit(rowsAtOnce)
      .execute();
    for (const row of rows) yield adjustmentOf(row);
    const last = rows.at(-1);
    if (rows.length < rowsAtOnce || !last) return;
    after = { timeMs: last.created_at_ms, seq: last.seq };
  }
}

async function readDays(
  db: Db,
  { ledgerId, fromMs, toMs }: RangeQuery,
): Promise<readonly TimedLine[]> {
  const rows = await selectDays(db, ledgerId)
    .where('day', '>=', dayOf(fromMs))
    .where('day', '<=', dayOf(toMs - 1))
    .orderBy('day')
    .limit(daysAtOnce)
    .execute();
  return rows.map(chargesOf);
}
