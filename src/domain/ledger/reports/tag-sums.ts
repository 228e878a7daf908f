// Sums of tagged charges, read from the ledger's sums by tag and day.
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { isSqlite } from '../../../db/dialect.ts';
import type { Db } from '../../../db/schema.ts';
import type { WhichGroups } from '../../../db/which-groups.ts';
import type { Micros } from '../../../lib/money.ts';
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
  /** The tag. */
  readonly group: string;
  readonly requests: number;
  /** All input, including tokens read from a provider's cache. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicros: Micros;
};

/** Returns the sums, highest cost first. A charge counts once in each of its tags. */
export async function sumTags(
  db: Db,
  query: TagSumsQuery,
  which: WhichTags,
): Promise<readonly TagSum[]> {
  if ('ids' in which) return which.ids.length === 0 ? [] : sumStep(db, query, which);
  if (!(await isLong(db, query))) return sumStep(db, query, which);
  let highest: readonly TagSum[] = [];
  let after = '';
  for (;;) {
    const last = await tagOfStep(db, query, after);
    const step = await sumStep(db, query, { ...which, after, last });
    highest = [...highest, ...step].toSorted(highestFirst).slice(0, which.top);
    if (last === undefined) return highest;
    after = last;
    await setImmediate();
  }
}

/** SQLite is read in this thread, so many rows are read in steps of whole tags. */
const stepRows = 10_000;

async function isLong(db: Db, query: TagSumsQuery): Promise<boolean> {
  if (!isSqlite(db)) return false;
  const rows = within(db, query).select('day').limit(1).offset(stepRows);
  return (await rows.executeTakeFirst()) !== undefined;
}

async function tagOfStep(
  db: Db,
  { ledgerId }: TagSumsQuery,
  after: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('tag_days')
    .select('tag')
    .where('ledger_id', '=', ledgerId)
    .where('tag', '>', after)
    .orderBy('tag')
    .limit(1)
    .offset(stepRows)
    .executeTakeFirst();
  return row?.tag;
}

/** By tag, SQLite would look all days up in the index of days, unless it is told not to. */
function within(db: Db, { ledgerId, fromDay, toDay }: TagSumsQuery, isByTag = false) {
  const day = isByTag ? sql<string>`+day` : sql<string>`day`;
  return db
    .selectFrom('tag_days')
    .where('ledger_id', '=', ledgerId)
    .where(day, '>=', fromDay)
    .where(day, '<=', toDay);
}

function highestFirst(one: TagSum, other: TagSum): number {
  return (
    other.costMicros - one.costMicros ||
    other.requests - one.requests ||
    (one.group < other.group ? -1 : 1)
  );
}

type Step = WhichTags & { readonly after?: string; readonly last?: string | undefined };

/** `last`: the last tag of the step; absent: all after the first. */
async function sumStep(
  db: Db,
  query: TagSumsQuery,
  { after, last, ...which }: Step,
): Promise<readonly TagSum[]> {
  const { by, keyId, modelId } = query;
  const day = by === 'tag' ? sql<string>`''` : sql<string>`day`;
  let sums = within(db, query, after !== undefined).select(({ fn }) => [
    day.as('shown_day'),
    'tag as group',
    fn.sum<number>('requests').as('requests'),
    fn.sum<number>('input_tokens').as('inputTokens'),
    fn.sum<number>('output_tokens').as('outputTokens'),
    fn.sum<Micros>('cost_micros').as('costMicros'),
  ]);
  if (after !== undefined) sums = sums.where('tag', '>', after);
  if (last !== undefined) sums = sums.where('tag', '<=', last);
  sums = 'ids' in which ? sums.where('tag', 'in', which.ids) : sums.limit(which.top);
  if (keyId !== undefined) sums = sums.where('key_id', '=', keyId);
  if (modelId !== undefined) sums = sums.where('model_id', '=', modelId);
  const rows = await sums
    .groupBy(['shown_day', 'tag'])
    .orderBy('costMicros', 'desc')
    .orderBy('requests', 'desc')
    .orderBy('tag')
    .execute();
  return rows.map(({ shown_day: shownDay, ...sum }) => ({ day: shownDay, ...sum }));
}
