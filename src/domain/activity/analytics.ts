// Sums for analytics: latencies, hours, providers and tags. Some seconds late.
import { sql } from 'kysely';
import type { Mode } from '../../terms/mode.ts';
import type { Db, Tables } from '../../db/schema.ts';
import { memberOfKey, type WhichGroups } from '../../db/which-groups.ts';
import { periodsOf } from './latency-sums.ts';

export type ActivityRange = {
  readonly accountId: string;
  readonly mode: Mode;
  /** The first and last day, `2026-11-21`. */
  readonly fromDay: string;
  readonly toDay: string;
};

/** Returns histograms of charged requests of some groups, or of some days or hours, whatever the range. */
export async function sumLatencies(
  db: Db,
  { accountId, mode, fromDay, toDay }: ActivityRange,
  by: Tables['latency_sums']['grouped_by'] | 'member' | 'period',
  ids: readonly string[],
) {
  if (ids.length === 0) return [];
  const column = by === 'period' ? sql<string>`period` : sql<string>`group_id`;
  const group = by === 'member' ? memberOfKey(db, 'latency_sums.group_id') : column;
  return db
    .selectFrom('latency_sums')
    .select(({ fn }) => [
      // The id of the model, key or member, the provider, tag or period; '' without a breakdown.
      group.as('group'),
      'kind',
      'latency_bucket as bucket',
      fn.sum<number>('requests').as('requests'),
    ])
    .where('account_id', '=', accountId)
    .where('mode', '=', mode)
    .where('grouped_by', '=', by === 'member' ? 'key' : by === 'period' ? 'none' : by)
    .where('period', 'in', by === 'period' ? ids : periodsOf(fromDay, toDay))
    .where(group, 'in', ids)
    .groupBy(['group', 'kind', 'latency_bucket'])
    .execute();
}

function hoursWithin(db: Db, range: ActivityRange) {
  return db
    .selectFrom('activity_hours')
    .select(({ fn }) => [
      fn.sum<number>('requests').as('requests'),
      fn.sum<number>('errors').as('errors'),
      fn.sum<number>('cost_micros').as('costMicros'),
      fn.sum<number>('input_tokens').as('inputTokens'),
      fn.sum<number>('output_tokens').as('outputTokens'),
    ])
    .where('account_id', '=', range.accountId)
    .where('mode', '=', range.mode)
    .where('hour', '>=', range.fromDay)
    .where('hour', '<=', `${range.toDay}T23`);
}

export function sumProviderDays(db: Db, range: ActivityRange) {
  const day = sql<string>`substr(hour, 1, 10)`;
  return hoursWithin(db, range)
    .select(['provider as group', day.as('day')])
    .groupBy(['provider', 'day'])
    .execute();
}

/** Returns sums by hour: `2026-11-21T12`. */
export function sumHours(db: Db, range: ActivityRange) {
  return hoursWithin(db, range).select('hour').groupBy('hour').execute();
}

/** Returns failed requests (`errors`) and repeated ones (`cached`) by group, the most first. */
export async function sumUncharged(
  db: Db,
  range: ActivityRange,
  by: 'model' | 'key' | 'member' | 'tag',
  which: Exclude<WhichGroups, { readonly after: unknown }>,
) {
  if ('ids' in which && which.ids.length === 0) return [];
  const group = groupOf(db, by);
  const isReplayed = sql`outcome in ('hit', 'idempotent-replay')`;
  let query = db
    .selectFrom(by === 'tag' ? 'activity_tag_days' : 'activity_days')
    .select(({ fn }) => [
      group.as('group'),
      sql<number>`sum(case when ${isReplayed} then 0 else requests end)`.as('errors'),
      sql<number>`sum(case when ${isReplayed} then requests else 0 end)`.as('cached'),
      fn.sum<number>('saved_micros').as('savedMicros'),
    ])
    .where('account_id', '=', range.accountId)
    .where('mode', '=', range.mode)
    .where('day', '>=', range.fromDay)
    .where('day', '<=', range.toDay);
  query = 'ids' in which ? query.where(group, 'in', which.ids) : query.limit(which.top);
  const most = sql`sum(requests)`;
  return query.groupBy('group').orderBy(most, 'desc').orderBy('group').execute();
}

function groupOf(db: Db, by: 'model' | 'key' | 'member' | 'tag') {
  return {
    model: sql<string>`model_id`,
    key: sql<string>`key_id`,
    member: memberOfKey(db, 'activity_days.key_id'),
    tag: sql<string>`tag`,
  }[by];
}
