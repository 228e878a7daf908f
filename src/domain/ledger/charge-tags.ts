// Tags of charges, and sums of charges by tag and UTC day, written in the transaction of each charge
// that has tags. `tollgate verify` compares them (reports/compare-tags.ts).
import type { Selectable } from 'kysely';
import { totalInputTokens } from '../../canonical/usage.ts';
import type { Tables } from '../../db/schema.ts';
import { dayOf } from '../../lib/utc-time.ts';
import type { Charge } from './book.ts';
import { defineSums } from './table.ts';

/** `tags` has each tag once. */
export type TaggedCharge = { readonly charge: Charge; readonly tags: readonly string[] };
export type ChargeTagRow = Selectable<Tables['charge_tags']>;
export type TagDayRow = Selectable<Tables['tag_days']>;

export function rowsOfTags({ charge, tags }: TaggedCharge): readonly ChargeTagRow[] {
  return tags.map((tag) => ({
    ledger_id: charge.ledgerId,
    tag,
    created_at_ms: charge.createdAtMs,
    charge_id: charge.id,
  }));
}

export const tagDaysTable = defineSums<TagDayRow>('tag_days');

/** Sums charges to one row per ledger, tag, day, key and model. */
export function sumTagDays(tagged: readonly TaggedCharge[]): readonly TagDayRow[] {
  return tagDaysTable.sum(
    tagged.flatMap(({ charge, tags }) => tags.map((tag) => tagDayOf(charge, tag))),
  );
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
