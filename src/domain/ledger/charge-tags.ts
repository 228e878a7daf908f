// Tags of charges, and sums of charges by tag and UTC day, written in the transaction of each charge
// that has tags. `tollgate verify` compares them (reports/compare-tags.ts).
import type { Selectable } from 'kysely';
import { totalInputTokens } from '../../canonical/usage.ts';
import type { ChargeTagsTable, TagDaysTable } from '../../db/schema.ts';
import { micros } from '../../lib/money.ts';
import type { Charge } from './book.ts';
import { dayOf } from '../../lib/utc-time.ts';

/** `tags` has each tag once. */
export type TaggedCharge = { readonly charge: Charge; readonly tags: readonly string[] };
export type ChargeTagRow = Selectable<ChargeTagsTable>;
export type TagDayRow = Selectable<TagDaysTable>;

export function rowsOfTags({ charge, tags }: TaggedCharge): readonly ChargeTagRow[] {
  return tags.map((tag) => ({
    ledger_id: charge.ledgerId,
    tag,
    created_at_ms: charge.createdAtMs,
    charge_id: charge.id,
  }));
}

/** Sums charges to one row per ledger, tag, day, key and model. */
export function sumTagDays(tagged: readonly TaggedCharge[]): readonly TagDayRow[] {
  const rows = new Map<string, TagDayRow>();
  for (const { charge, tags } of tagged)
    for (const tag of tags) {
      const row = tagDayOf(charge, tag);
      const id = tagDayId(row);
      const known = rows.get(id);
      rows.set(id, known ? sum(known, row) : row);
    }
  return [...rows.values()];
}

export function tagDayId(
  row: Pick<TagDayRow, 'ledger_id' | 'tag' | 'day' | 'key_id' | 'model_id'>,
): string {
  return `${row.ledger_id} ${row.tag} ${row.day} ${row.key_id} ${row.model_id}`;
}

function tagDayOf(charge: Charge, tag: string): TagDayRow {
  return {
    ledger_id: charge.ledgerId,
    tag,
    day: dayOf(charge.createdAtMs),
    key_id: charge.keyId,
    model_id: charge.modelId,
    requests: 1,
    input_tokens: totalInputTokens(charge.usage),
    output_tokens: charge.usage.outputTokens,
    cost_micros: charge.costMicros,
  };
}

function sum(one: TagDayRow, other: TagDayRow): TagDayRow {
  return {
    ...one,
    requests: one.requests + other.requests,
    input_tokens: one.input_tokens + other.input_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
    cost_micros: micros(one.cost_micros + other.cost_micros),
  };
}

const sums = ['requests', 'input_tokens', 'output_tokens', 'cost_micros'] as const;

/** The conflict clause of an insert: adds to the existing row. */
export const addToTagDaySql = `on conflict (ledger_id, tag, day, key_id, model_id) do update set ${sums
  .map((column) => `${column} = tag_days.${column} + excluded.${column}`)
  .join(', ')}`;
