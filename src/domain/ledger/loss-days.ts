// Provoked losses by UTC day, updated in the transaction of each entry. `tollgate verify`
// recomputes them. The ledger's worker thread loads this file; `caused-losses.ts` reads the sums.
import type { Selectable } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import { dayOf } from '../../lib/utc-time.ts';
import type { Entry } from './book.ts';
import { defineSums } from './table.ts';

export type LossDayRow = Omit<Selectable<Tables['loss_days']>, 'forgiven_micros'>;

export const lossDaysTable = defineSums<LossDayRow>('loss_days', ['forgiven_micros']);

/** Sums entries to one row per ledger and day. */
export function sumCausedByAccounts(entries: readonly Entry[]): readonly LossDayRow[] {
  return lossDaysTable.sum(entries.filter((entry) => entry.isCausedByAccount).map(rowOf));
}

export function addToLossDay(rows: Map<string, LossDayRow>, entry: Entry): void {
  if (entry.isCausedByAccount) lossDaysTable.add(rows, rowOf(entry));
}

function rowOf({ ledgerId, lossMicros, createdAtMs }: Entry): LossDayRow {
  return { ledger_id: ledgerId, day: dayOf(createdAtMs), provoked_micros: lossMicros };
}
