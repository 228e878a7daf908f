// Sums of tagged charges, read from the ledger's sums by tag and day.
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../../db/schema.ts';
import type { WhichGroups } from '../../../db/which-groups.ts';
import { type Micros, micros } from '../../../lib/money.ts';
import type { LedgerId } from '../commands.ts';

type TagSumsQuery = {
  readonly ledgerId: LedgerId;
  /** The first and last day, `2026-11-21`. */
  readonly fromDay: string;
  readonly toDay: string;
  readonly by: 'tag' | 'day-and-tag';
  /** Optional filters. */
  readonly keyId?: string | undefined;
  readonly modelId?: string | undefined;
};

/** There are as many tags as clients like, so all of them are never read. */
type WhichTags = Exclude<WhichGroups, { readonly after: unknown }>;

export type TagSum = {
  /** '' unless summed by day as well. */
  readonly day: string;
  readonly tag: string;
  readonly requests: number;
  /** All input, including tokens read from a provider's cache. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicros: Micros;
};

/** Returns the sums, highest cost first. A charge counts once in each of its tags. */
export async function sumTags(
  db: Kysely<Tables>,
  { ledgerId, fromDay, toDay, by, keyId, modelId }: TagSumsQuery,
  which: WhichTags,
): Promise<readonly TagSum[]> {
  if ('ids' in which && which.ids.length === 0) return [];
  const day = by === 'tag' ? sql<string>`''` : sql<string>`day`;
  let query = db
    .selectFrom('tag_days')
    .select(({ fn }) => [
      day.as('shown_day'),
      'tag',
      fn.sum<number | string>('requests').as('requests'),
      fn.sum<number | string>('input_tokens').as('input'),
      fn.sum<number | string>('output_tokens').as('output'),
      fn.sum<number | string>('cost_micros').as('cost'),
    ])
    .where('ledger_id', '=', ledgerId)
    .where('day', '>=', fromDay)
    .where('day', '<=', toDay);
  query = 'ids' in which ? query.where('tag', 'in', which.ids) : query.limit(which.top);
  if (keyId !== undefined) query = query.where('key_id', '=', keyId);
  if (modelId !== undefined) query = query.where('model_id', '=', modelId);
  const rows = await query
    .groupBy(['shown_day', 'tag'])
    .orderBy('cost', 'desc')
    .orderBy('requests', 'desc')
    .orderBy('tag')
    .execute();
  return rows.map((row) => ({
    day: row.shown_day,
    tag: row.tag,
    requests: Number(row.requests),
    inputTokens: Number(row.input),
    outputTokens: Number(row.output),
    costMicros: micros(Number(row.cost)),
  }));
}
