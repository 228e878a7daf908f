// Sums for analytics: latencies, hours, providers and tags. Some seconds late.
import { type Kysely, sql } from 'kysely';
import type { Mode } from '../../terms/mode.ts';
import type { Tables } from '../../db/schema.ts';
import { memberOfKey, type WhichGroups } from '../../db/which-groups.ts';
import { periodsOf } from './latency-sums.ts';

export type ActivityRange = {
  readonly accountId: string;
  readonly mode: Mode;
  /** The first and last day, `2026-11-21`. */
  readonly fromDay: string;
  readonly toDay: string;
};

type LatencySum = {
  /** The id of the model, key or member, the provider, tag or period; '' without a breakdown. */
  readonly group: string;
  readonly kind: 'first' | 'whole';
  readonly bucket: number;
  readonly requests: number;
};

/** Returns histograms of charged requests of some groups, or of some days or hours, whatever the range. */
export async function sumLatencies(
  db: Kysely<Tables>,
  { accountId, mode, fromDay, toDay }: ActivityRange,
  by: Tables['latency_sums']['grouped_by'] | 'member' | 'period',
  ids: readonly string[],
): Promise<readonly LatencySum[]> {
  if (ids.length === 0) return [];
  const column = by === 'period' ? sql<string>`period` : sql<string>`group_id`;
  const group = by === 'member' ? memberOfKey(db, 'latency_sums.group_id') : column;
  const rows = await db
    .selectFrom('latency_sums')
    .select(({ fn }) => [
      group.as('group'),
      'kind',
      'latency_bucket',
      fn.sum<number | string>('requests').as('requests'),
    ])
    .where('account_id', '=', accountId)
    .where('mode', '=', mode)
    .where('grouped_by', '=', by === 'member' ? 'key' : by === 'period' ? 'none' : by)
    .where('period', 'in', by === 'period' ? ids : periodsOf(fromDay, toDay))
    .where(group, 'in', ids)
    .groupBy(['group', 'kind', 'latency_bucket'])
    .execute();
  return rows.map(({ group: id, kind, latency_bucket: bucket, requests }) => ({
    group: id,
    kind,
    bucket,
    requests: Number(requests),
  }));
}

type HourSum = {
  readonly requests: number;
  readonly errors: number;
  readonly costMicros: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
};

function hoursWithin(db: Kysely<Tables>, range: ActivityRange) {
  return db
    .selectFrom('activity_hours')
    .select(({ fn }) => [
      fn.sum<number | string>('requests').as('requests'),
      fn.sum<number | string>('errors').as('errors'),
      fn.sum<number | string>('cost_micros').as('cost'),
      fn.sum<number | string>('input_tokens').as('input'),
      fn.sum<number | string>('output_tokens').as('output'),
    ])
    .where('account_id', '=', range.accountId)
    .where('mode', '=', range.mode)
    .where('hour', '>=', range.fromDay)
    .where('hour', '<=', `${range.toDay}T23`);
}

function hourSum(
  row: Awaited<ReturnType<ReturnType<typeof hoursWithin>['executeTakeFirstOrThrow']>>,
): HourSum {
  return {
    requests: Number(row.requests),
    errors: Number(row.errors),
    costMicros: Number(row.cost),
    inputTokens: Number(row.input),
    outputTokens: Number(row.output),
  };
}

/** Returns sums by provider and day. */
export async function sumProviderDays(
  db: Kysely<Tables>,
  range: ActivityRange,
): Promise<readonly (HourSum & { readonly provider: string; readonly day: string })[]> {
  const day = sql<string>`substr(hour, 1, 10)`;
  const rows = await hoursWithin(db, range)
    .select(['provider', day.as('day')])
    .groupBy(['provider', 'day'])
    .execute();
  return rows.map((row) => ({ ...hourSum(row), provider: row.provider, day: row.day }));
}

/** Returns sums by hour: `2026-11-21T12`. */
export async function sumHours(
  db: Kysely<Tables>,
  range: ActivityRange,
): Promise<readonly (HourSum & { readonly hour: string })[]> {
  const rows = await hoursWithin(db, range).select('hour').groupBy('hour').execute();
  return rows.map((row) => ({ ...hourSum(row), hour: row.hour }));
}

type UnchargedSum = {
  readonly group: string;
  /** Failed and repeated ones. */
  readonly errors: number;
  readonly cached: number;
  readonly savedMicros: number;
};

/** Returns uncharged requests by group, the most first. */
export async function sumUncharged(
  db: Kysely<Tables>,
  range: ActivityRange,
  by: 'model' | 'key' | 'member' | 'tag',
  which: Exclude<WhichGroups, { readonly after: unknown }>,
): Promise<readonly UnchargedSum[]> {
  if ('ids' in which && which.ids.length === 0) return [];
  const group = groupOf(db, by);
  const isRepeat = sql`outcome in ('hit', 'idempotent-replay')`;
  let query = db
    .selectFrom(by === 'tag' ? 'activity_tag_days' : 'activity_days')
    .select(({ fn }) => [
      group.as('group'),
      sql<number | string>`sum(case when ${isRepeat} then requests else 0 end)`.as('cached'),
      fn.sum<number | string>('requests').as('requests'),
      fn.sum<number | string>('saved_micros').as('saved'),
    ])
    .where('account_id', '=', range.accountId)
    .where('mode', '=', range.mode)
    .where('day', '>=', range.fromDay)
    .where('day', '<=', range.toDay);
  query = 'ids' in which ? query.where(group, 'in', which.ids) : query.limit(which.top);
  const rows = await query.groupBy('group').orderBy('requests', 'desc').orderBy('group').execute();
  return rows.map((row) => ({
    group: row.group,
    errors: Number(row.requests) - Number(row.cached),
    cached: Number(row.cached),
    savedMicros: Number(row.saved),
  }));
}

function groupOf(db: Kysely<Tables>, by: 'model' | 'key' | 'member' | 'tag') {
  return {
    model: sql<string>`model_id`,
    key: sql<string>`key_id`,
    member: memberOfKey(db, 'activity_days.key_id'),
    tag: sql<string>`tag`,
  }[by];
}
