// Provoked losses by UTC day, updated in the transaction of each entry. `tollgate verify`
// recomputes them. The ledger's worker thread loads this file; `provoked-losses.ts` reads the sums.
import { type Micros, micros } from '../../lib/money.ts';
import type { Entry } from './book.ts';
import { dayOf } from '../../lib/utc-time.ts';

export type LossDayRow = {
  readonly ledger_id: string;
  readonly day: string;
  readonly provoked_micros: Micros;
};

/** Sums entries to one row per ledger and day. */
export function sumProvoked(entries: readonly Entry[]): readonly LossDayRow[] {
  const rows = new Map<string, LossDayRow>();
  for (const entry of entries) addToLossDay(rows, entry);
  return [...rows.values()];
}

/** Adds a provoked loss to its row; rows are indexed by `lossDayId`. */
export function addToLossDay(
  rows: Map<string, LossDayRow>,
  { ledgerId, lossMicros, isProvoked, createdAtMs }: Entry,
): void {
  if (!isProvoked) return;
  const row = { ledger_id: ledgerId, day: dayOf(createdAtMs), provoked_micros: lossMicros };
  const id = lossDayId(row);
  const known = rows.get(id)?.provoked_micros ?? 0;
  rows.set(id, { ...row, provoked_micros: micros(known + lossMicros) });
}

export function lossDayId({ ledger_id, day }: LossDayRow): string {
  return `${ledger_id} ${day}`;
}

/** The conflict clause of an insert: adds to the existing row. */
export const addToLossDaySql = `on conflict (ledger_id, day) do update set
  provoked_micros = loss_days.provoked_micros + excluded.provoked_micros`;
