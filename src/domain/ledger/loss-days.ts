// Provoked losses by UTC day, updated in the transaction of each entry. `tollgate verify`
// recomputes them. The ledger's worker thread loads this file; `caused-losses.ts` reads the sums.
import type { Micros } from '../../lib/money.ts';
import { dayOf } from '../../lib/utc-time.ts';
import type { Entry } from './book.ts';
import { defineSums } from './table.ts';

export type LossDayRow = {
  readonly ledger_id: string;
  readonly day: string;
  readonly provoked_micros: Micros;
};

/** Seals have digests of these columns in this order. */
export const lossDaysTable = defineSums<LossDayRow>(
  'loss_days',
  ['ledger_id', 'day'],
  ['provoked_micros'],
);

/** Sums entries to one row per ledger and day. */
export function sumCausedByAccounts(entries: readonly Entry[]): readonly LossDayRow[] {
  const rows = new Map<string, LossDayRow>();
  for (const entry of entries) addToLossDay(rows, entry);
  return [...rows.values()];
}

/** Adds a provoked loss to its row. */
export function addToLossDay(
  rows: Map<string, LossDayRow>,
  { ledgerId, lossMicros, isCausedByAccount, createdAtMs }: Entry,
): void {
  if (!isCausedByAccount) return;
  lossDaysTable.add(rows, {
    ledger_id: ledgerId,
    day: dayOf(createdAtMs),
    provoked_micros: lossMicros,
  });
}
