// Reads the counts of uncharged requests and provider calls, and the last use of keys. They are a
// few seconds old; see activity.ts.
import { type Kysely, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';
import { type Micros, micros } from '../../lib/money.ts';
import { errorsKept } from './activity-rows.ts';
import { type Latency, latencyOf } from './latency.ts';

type Mode = 'live' | 'test';

type ActivityQuery = {
  /** null means all accounts, for operators. */
  readonly accountId: string | null;
  readonly mode: Mode;
  /** The first and last UTC day, `2026-11-21`. */
  readonly fromDay: string;
  readonly toDay: string;
  readonly by: 'none' | 'day' | 'key' | 'model';
};

export type ActivitySum = {
  /**
   * The day, or the id of the key or model; '' without a breakdown, or when the request failed
   * before its model was known.
   */
  readonly group: string;
  /** `hit`, `idempotent-replay`, or an error code. */
  readonly outcome: string;
  readonly requests: number;
  /** The original cost of repeated answers, as far as it is known, and their tokens. */
  readonly savedMicros: Micros;
  readonly inputTokens: number;
  readonly outputTokens: number;
};

/** Returns sums ordered by group, then outcome. */
export async function sumActivity(
  db: Kysely<Tables>,
  query: ActivityQuery,
): Promise<readonly ActivitySum[]> {
  let rows = db
    .selectFrom('activity_days')
    .select(({ fn }) => [
      groups[query.by].as('group'),
      'outcome',
      fn.sum<number | string>('requests').as('requests'),
      fn.sum<number | string>('saved_micros').as('saved'),
      fn.sum<number | string>('input_tokens').as('input'),
      fn.sum<number | string>('output_tokens').as('output'),
    ])
    .where('mode', '=', query.mode)
    .where('day', '>=', query.fromDay)
    .where('day', '<=', query.toDay);
  if (query.accountId !== null) rows = rows.where('account_id', '=', query.accountId);
  const found = await rows
    .groupBy(['group', 'outcome'])
    .orderBy('group')
    .orderBy('outcome')
    .execute();
  return found.map((row) => ({
    group: row.group,
    outcome: row.outcome,
    requests: Number(row.requests),
    savedMicros: micros(Number(row.saved)),
    inputTokens: Number(row.input),
    outputTokens: Number(row.output),
  }));
}

const groups = {
  none: sql<string>`''`,
  day: sql<string>`day`,
  key: sql<string>`key_id`,
  model: sql<string>`model_id`,
};

export type RecentError = {
  readonly requestId: string;
  readonly createdAtMs: number;
  readonly keyId: string;
  /** '' when the request failed before its model was known. */
  readonly modelId: string;
  /** The route's path: `/v1/chat/completions`. */
  readonly path: string;
  /** An error code; canonical/errors.ts explains it. */
  readonly code: string;
};

/**
 * Returns the newest errors first: at most a hundred of an account in one mode, from the last 30
 * days. An error storm is sampled.
 */
export async function listRecentErrors(
  db: Kysely<Tables>,
  {
    accountId,
    mode,
    limit = errorsKept,
  }: { readonly accountId: string; readonly mode: Mode; readonly limit?: number },
): Promise<readonly RecentError[]> {
  const rows = await db
    .selectFrom('recent_errors')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('mode', '=', mode)
    .orderBy('created_at_ms', 'desc')
    .orderBy('request_id', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    requestId: row.request_id,
    createdAtMs: row.created_at_ms,
    keyId: row.key_id,
    modelId: row.model_id,
    path: row.path,
    code: row.code,
  }));
}

export type ProviderOverview = {
  readonly provider: string;
  /** Including retries. */
  readonly calls: number;
  /** Calls that failed, and calls that refused the operator's credential or asked for payment. */
  readonly failures: number;
  readonly refusals: number;
  /** Time to the first chunk of successful streams; null when there were none. */
  readonly stream: Latency | null;
  /** Time to the end of successful whole answers; null when there were none. */
  readonly whole: Latency | null;
};

/**
 * Returns one row per provider, ordered by name, over all gateways. Covers the UTC hours from
 * `fromMs` up to `toMs`, exclusive. Rows are kept for 100 days.
 */
export async function readProviders(
  db: Kysely<Tables>,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<readonly ProviderOverview[]> {
  const hourOf = (ms: number) => new Date(ms).toISOString().slice(0, 13);
  const rows = await db
    .selectFrom('provider_hours')
    .select(({ fn }) => [
      'provider',
      'kind',
      'ending',
      'latency_bucket',
      fn.sum<number | string>('calls').as('calls'),
    ])
    .where('hour', '>=', hourOf(fromMs))
    .where('hour', '<=', hourOf(toMs - 1))
    .groupBy(['provider', 'kind', 'ending', 'latency_bucket'])
    .execute();
  const counts = rows.map((row) => ({ ...row, calls: Number(row.calls) }));
  return [...new Set(counts.map(({ provider }) => provider))].toSorted().map((provider) => {
    const own = counts.filter((row) => row.provider === provider);
    const callsOf = (isWanted: (row: (typeof own)[number]) => boolean) =>
      own.filter(isWanted).reduce((sum, { calls }) => sum + calls, 0);
    const latency = (kind: 'stream' | 'whole') =>
      latencyOf(
        new Map(
          own
            .filter((row) => row.kind === kind && row.ending === 'good')
            .map((row) => [row.latency_bucket, row.calls]),
        ),
      );
    return {
      provider,
      calls: callsOf(() => true),
      failures: callsOf(({ ending }) => ending === 'bad'),
      refusals: callsOf(({ ending }) => ending === 'refused'),
      stream: latency('stream'),
      whole: latency('whole'),
    };
  });
}

/**
 * Returns the last use of keys in Unix milliseconds, exact to a few seconds. Keys that were never
 * used are missing.
 */
export async function readKeyUses(
  database: Database,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (keyIds.length === 0) return new Map();
  const rows = await database.read
    .selectFrom('key_uses')
    .selectAll()
    .where('key_id', 'in', keyIds)
    .execute();
  return new Map(rows.map((row) => [row.key_id, row.last_used_at_ms]));
}
