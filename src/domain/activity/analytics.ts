// Sums for analytics: latencies, hours, providers and tags. Some seconds late.
import { type Kysely, sql } from 'kysely';
import type { Mode } from '../../canonical/mode.ts';
import type { LatencySumsTable, Tables } from '../../db/schema.ts';
import { periodsOf } from './latency-sums.ts';

export type ActivityRange = {
  readonly accountId: string;
  readonly mode: Mode;
  /** The first and last day, `2026-11-21`. */
  readonly fromDay: string;
  readonly toDay: string;
};

type LatencySum = {
  /** The id of the model or key, the provider or the tag; '' without a breakdown. */
  readonly group: string;
  readonly kind: 'first' | 'whole';
  readonly bucket: number;
  readonly requests: number;
};

/** Returns histograms of charged requests; latency.ts has the buckets. */
export async function sumLatencies(
  db: Kysely<Tables>,
  {
    by,
    accountId,
    mode,
    fromDay,
    toDay,
  }: ActivityRange & { readonly by: LatencySumsTable['grouped_by'] },
): Promise<readonly LatencySum[]> {
  const rows = await db
    .selectFrom('latency_sums')
    .select(({ fn }) => [
      'group_id',
      'kind',
      'latency_bucket',
      fn.sum<number | string>('requests').as('requests'),
    ])
    .where('account_id', '=', accountId)
    .where('mode', '=', mode)
    .where('grouped_by', '=', by)
    .where('period', 'in', periodsOf(fromDay, toDay))
    .groupBy(['group_id', 'kind', 'latency_bucket'])
    .execute();
  return rows.map((row) => ({
    group: row.group_id,
    kind: row.kind,
    bucket: row.latency_bucket,
    requests: Number(row.requests),
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

/** Returns uncharged requests by tag and outcome. */
export async function sumUnchargedTags(
  db: Kysely<Tables>,
  range: ActivityRange,
): Promise<
  readonly {
    readonly group: string;
    readonly outcome: string;
    readonly requests: number;
    readonly savedMicros: number;
  }[]
> {
  const rows = await db
    .selectFrom('activity_tag_days')
    .select(({ fn }) => [
      'tag',
      'outcome',
      fn.sum<number | string>('requests').as('requests'),
      fn.sum<number | string>('saved_micros').as('saved'),
    ])
    .where('account_id', '=', range.accountId)
    .where('mode', '=', range.mode)
    .where('day', '>=', range.fromDay)
    .where('day', '<=', range.toDay)
    .groupBy(['tag', 'outcome'])
    .execute();
  return rows.map(({ tag, outcome, requests, saved }) => ({
    group: tag,
    outcome,
    requests: Number(requests),
    savedMicros: Number(saved),
  }));
}
