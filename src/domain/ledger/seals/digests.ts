// Digests of journal rows. Each begins with the names of its columns, and has a line of JSON for
// each row, which is also the row's text in an exported file.
import { createHash, type Hash } from 'node:crypto';
import type { ChargeDayRow } from '../charge-days.ts';
import { chargeDayId } from '../charge-days.ts';
import { tagDayId, type TagDayRow } from '../charge-tags.ts';
import { type LossDayRow, lossDayId } from '../loss-days.ts';
import type { ChargeRow, EntryRow } from '../rows.ts';

export const entryColumns = [
  'seq',
  'id',
  'kind',
  'ledger_id',
  'key_id',
  'posted_delta_micros',
  'held_delta_micros',
  'loss_micros',
  'provoked',
  'available_micros',
  'day',
  'month',
  'daily_cap_micros',
  'monthly_cap_micros',
  'note',
  'created_at_ms',
] as const satisfies readonly (keyof EntryRow)[];

export const chargeColumns = [
  'id',
  'ledger_id',
  'key_id',
  'model_id',
  'model_name',
  'endpoint',
  'provider',
  'input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'output_tokens',
  'reasoning_tokens',
  'web_searches',
  'images',
  'usage_source',
  'price_version',
  'price_id',
  'upstream_cost_micros',
  'ending',
  'streamed',
  'cost_micros',
  'loss_micros',
  'hold_micros',
  'attempts',
  'duration_ms',
  'first_byte_ms',
  'created_at_ms',
] as const satisfies readonly (keyof ChargeRow)[];

export const tagColumns = ['charge_id', 'tags'] as const;

const chargeDayColumns = [
  'ledger_id',
  'day',
  'key_id',
  'model_id',
  'endpoint',
  'requests',
  'input_tokens',
  'cached_tokens',
  'output_tokens',
  'images',
  'cost_micros',
  'upstream_cost_micros',
  'loss_micros',
] as const satisfies readonly (keyof ChargeDayRow)[];

const lossDayColumns = ['ledger_id', 'day', 'provoked_micros'] as const;

const tagDayColumns = [
  'ledger_id',
  'tag',
  'day',
  'key_id',
  'model_id',
  'requests',
  'input_tokens',
  'output_tokens',
  'cost_micros',
] as const satisfies readonly (keyof TagDayRow)[];

/** The digest of rows with these columns, in the order in which they are added. */
export class RowsDigest {
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

export type SealedSums = {
  readonly chargeDays: readonly ChargeDayRow[];
  readonly lossDays: readonly LossDayRow[];
  /** null: the seal is from before tags were sealed. */
  readonly tagDays: readonly TagDayRow[] | null;
};

/** The digest of daily sums, in any order. What was forgiven may still change. */
export function digestSums({ chargeDays: days, lossDays: losses, tagDays }: SealedSums): string {
  const columns = [...chargeDayColumns, ...lossDayColumns];
  const digest = new RowsDigest(tagDays ? [...columns, ...tagDayColumns] : columns);
  for (const row of sorted(days, chargeDayId))
    digest.add(JSON.stringify(chargeDayColumns.map((column) => row[column])));
  for (const row of sorted(losses, lossDayId))
    digest.add(JSON.stringify(lossDayColumns.map((column) => row[column])));
  for (const row of sorted(tagDays ?? [], tagDayId))
    digest.add(JSON.stringify(tagDayColumns.map((column) => row[column])));
  return digest.end();
}

function sorted<Row>(rows: readonly Row[], idOf: (row: Row) => string): readonly Row[] {
  return rows
    .map((row) => ({ id: idOf(row), row }))
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
    .map(({ row }) => row);
}
