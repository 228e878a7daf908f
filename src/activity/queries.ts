// What is told of requests that were not charged, and of providers. Some seconds old; see activity.ts.
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../db/schema.ts';
import { type Micros, micros } from '../lib/money.ts';
import { errorsKept } from './activity-rows.ts';
import { type Latency, latencyOf } from './latency.ts';

type Mode = 'live' | 'test';

export type ActivityQuery = {
  /** null: all accounts, for operators. */
  readonly accountId: string | null;
  readonly mode: Mode;
  /** The first and the last UTC day, `2026-11-21`. */
  readonly fromDay: string;
  readonly toDay: string;
  readonly by: 'none' | 'day' | 'key' | 'model';
};

export type ActivitySum = {
  /** The day, or the id of the key or model; '' where it is not broken down, or the request failed before its model was known. */
  readonly group: string;
  /** `hit`, `idempotent-replay`, or the code of an error. */
  readonly outcome: string;
  readonly requests: number;
  /** What the answers that were given once more had cost, as far as it is known, and their tokens. */
  readonly savedMicros: Micros;
  readonly inputTokens: number;
  readonly outputTokens: number;
};

/** In the order of groups, then of outcomes. */
export async function sumActivity(db: Kysely<Tables>, query: ActivityQuery): Promise<readonly ActivitySum[]> {
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
  const found = await rows.groupBy(['group', 'outcome']).orderBy('group').orderBy('outcome').execute();
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
  /** '': the request failed before its model was known. */
  readonly modelId: string;
  /** As its route is written: `/v1/chat/completions`. */
  readonly path: string;
  /** canonical/errors.ts says what it means. */
  readonly code: string;
};

/** The newest first: at most the last hundred of an account in a mode, of the last 30 days. Of a storm of errors some are left out. */
export async function listRecentErrors(
  db: Kysely<Tables>,
  { accountId, mode, limit = errorsKept }: { readonly accountId: string; readonly mode: Mode; readonly limit?: number },
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
  /** Retries included. */
  readonly calls: number;
  /** Calls that failed, and calls that refused the operator's credential or wanted money. */
  readonly failures: number;
  readonly refusals: number;
  /** Of streams, to their first piece; null: there were none that succeeded. */
  readonly stream: Latency | null;
  /** Of whole answers, to their end. */
  readonly whole: Latency | null;
};

/** Of all gateways, by name, over the UTC hours that a time touches: from the first, up to but without the other. Kept for 100 days. */
export async function readProviders(
  db: Kysely<Tables>,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<readonly ProviderOverview[]> {
  const hourOf = (ms: number) => new Date(ms).toISOString().slice(0, 13);
  const rows = await db
    .selectFrom('provider_hours')
    .select(({ fn }) => ['provider', 'kind', 'ending', 'latency_bucket', fn.sum<number | string>('calls').as('calls')])
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
        new Map(own.filter((row) => row.kind === kind && row.ending === 'good').map((row) => [row.latency_bucket, row.calls])),
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
