// Digests of journal rows. Each begins with the names of its columns, and has a line of JSON for
// each row, which is also the row's text in an exported file.
import { createHash, type Hash } from 'node:crypto';
import { type ChargeDayRow, chargeDaysTable } from '../charge-days.ts';
import { type TagDayRow, tagDaysTable } from '../charge-tags.ts';
import { type ChargeRow, chargesTable, entriesTable, type EntryRow } from '../columns.ts';
import { type LossDayRow, lossDaysTable } from '../loss-days.ts';
import type { SumTable } from '../table.ts';
import type { JournalRow } from './journal.ts';

/**
 * The columns that a seal's digest covers: those of the first schema. A column that is added later
 * stands behind them and is in no digest, so that earlier seals stay valid.
 */
export const entryColumns = ['seq', ...entriesTable.columns.slice(0, 15)] as const;
export const chargeColumns = chargesTable.columns.slice(0, 28);
export const tagColumns = ['charge_id', 'tags'] as const;
const chargeDayColumns = chargeDaysTable.columns.slice(0, 13);
const lossDayColumns = lossDaysTable.columns.slice(0, 3);
const tagDayColumns = tagDaysTable.columns.slice(0, 9);

/** The digest of rows with these columns, in the order in which they are added. */
class RowsDigest {
  readonly #hash: Hash = createHash('sha256');
  count = 0;

  constructor(columns: readonly string[]) {
    this.#hash.update(`${JSON.stringify(columns)}\n`);
  }

  /** `line` is a row's values as JSON. */
  add(line: string): void {
    this.#hash.update(line).update('\n');
    this.count += 1;
  }

  /** Can be called once. */
  end(): string {
    return this.#hash.digest('hex');
  }
}

export class DayDigests {
  readonly entries = new RowsDigest(entryColumns);
  readonly charges = new RowsDigest(chargeColumns);
  readonly tags = new RowsDigest(tagColumns);

  add({ entry, charge, tags }: JournalRow): void {
    this.entries.add(entryLine(entry));
    if (charge) this.charges.add(chargeLine(charge));
    if (tags.length > 0) this.tags.add(tagsLine(entry.id, tags));
  }
}

export function entryLine(entry: EntryRow): string {
  return JSON.stringify(entryColumns.map((column) => entry[column]));
}

export function chargeLine(charge: ChargeRow): string {
  return JSON.stringify(chargeColumns.map((column) => charge[column]));
}

/** `tags` in their order. */
export function tagsLine(chargeId: string, tags: readonly string[]): string {
  return JSON.stringify([chargeId, tags]);
}

export function digestText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

type SealedSums = {
  readonly chargeDays: readonly ChargeDayRow[];
  readonly lossDays: readonly LossDayRow[];
  readonly tagDays: readonly TagDayRow[];
};

/** The digest of daily sums, in any order. What was forgiven may still change. */
export function digestSums({ chargeDays, lossDays, tagDays }: SealedSums): string {
  const digest = new RowsDigest([...chargeDayColumns, ...lossDayColumns, ...tagDayColumns]);
  const lines = [
    ...sortedLines(chargeDays, chargeDaysTable, chargeDayColumns),
    ...sortedLines(lossDays, lossDaysTable, lossDayColumns),
    ...sortedLines(tagDays, tagDaysTable, tagDayColumns),
  ];
  for (const line of lines) digest.add(line);
  return digest.end();
}

function sortedLines<Row>(
  rows: readonly Row[],
  { idOf }: SumTable<Row>,
  columns: readonly (keyof Row)[],
): readonly string[] {
  return rows
    .map((row) => ({ id: idOf(row), line: JSON.stringify(columns.map((column) => row[column])) }))
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
    .map(({ line }) => line);
}
