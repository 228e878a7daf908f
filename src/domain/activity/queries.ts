// Reads the counts of uncharged requests and provider calls, and the last use of keys. They are a
// few seconds old; see activity.ts.
import { sql } from 'kysely';
import type { Mode } from '../../terms/mode.ts';
import { isSqlite } from '../../db/dialect.ts';
import { type Place, rowsPerStep, searchPage, type Span } from '../../db/search-steps.ts';
import type { Db } from '../../db/schema.ts';
import { isOfClient, memberOfKey } from '../../db/which-groups.ts';
import type { Micros } from '../../lib/money.ts';
import { hourOf } from '../../lib/utc-time.ts';
import { camelCase } from '../../lib/snake-case.ts';
import type { RequestRow } from './activity-rows.ts';
import { type ActivityRange, sumLatencies } from './analytics.ts';
import { type Latency, latencyOf, totalMsOf } from './latency.ts';
import { readNotes } from './request-notes.ts';

type ActivityQuery = ActivityRange & {
  /** Not by key: an account has as many as it likes. */
  readonly by: 'none' | 'day' | 'model';
  /** Optional filters. */
  readonly keyId?: string;
  readonly modelId?: string;
};

export type ActivitySum = Awaited<ReturnType<typeof sumActivity>>[number];

/** Returns sums ordered by group, then outcome. */
export async function sumActivity(db: Db, query: ActivityQuery) {
  let rows = db
    .selectFrom('activity_days')
    .select(({ fn }) => [
      // The day, or the id of the model; '' without a breakdown, or when the request failed before
      // its model was known.
      groups[query.by].as('group'),
      // `hit`, `idempotent-replay`, or an error code.
      'outcome',
      fn.sum<number>('requests').as('requests'),
      // The original cost of repeated answers, as far as it is known.
      fn.sum<Micros>('saved_micros').as('savedMicros'),
    ])
    .where('account_id', '=', query.accountId)
    .where('mode', '=', query.mode)
    .where('day', '>=', query.fromDay)
    .where('day', '<=', query.toDay);
  if (query.keyId !== undefined) rows = rows.where('key_id', '=', query.keyId);
  if (query.modelId !== undefined) rows = rows.where('model_id', '=', query.modelId);
  return rows.groupBy(['group', 'outcome']).orderBy('group').orderBy('outcome').execute();
}

const groups = {
  none: sql<string>`''`,
  day: sql<string>`day`,
  model: sql<string>`model_id`,
};

/** A request as its account's history has it. */
export type LoggedRequest = ReturnType<typeof toLogged>;

/** A field that is left out does not filter. */
export type UnchargedQuery = {
  readonly accountId: string;
  readonly mode: Mode;
  readonly outcomes?: readonly Exclude<LoggedRequest['outcome'], 'charged'>[] | undefined;
  readonly code?: string | undefined;
  readonly keyId?: string | undefined;
  readonly modelId?: string | undefined;
  readonly member?: string | undefined;
  readonly tag?: string | undefined;
  /** An hour of the week in UTC: 0 begins on Sunday at midnight. */
  readonly weekHour?: number | undefined;
  readonly durationMinMs?: number | undefined;
  readonly client?: string | undefined;
  /** The routes of an endpoint. */
  readonly paths?: readonly string[] | undefined;
  /** Unix milliseconds; `toMs` is exclusive. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** The `next` of the previous page. */
  readonly after?: Place | null | undefined;
  readonly limit: number;
};

/**
 * Returns requests that were not charged, newest first, as far as they are kept. They are some seconds
 * old, and a storm of them is sampled. A page is short while its search has found little; `next` is
 * null when all was searched. `stepRows`: requests that one statement reads.
 */
export async function listUncharged(
  db: Db,
  asked: UnchargedQuery,
  stepRows = rowsPerStep,
): Promise<{ readonly rows: readonly LoggedRequest[]; readonly next: Place | null }> {
  const { fromMs = null, toMs = null, limit } = asked;
  const { rows, next } = await searchPage([{ fromMs, toMs }], {
    limit,
    startOf: async (span) => {
      const { accountId, mode, after } = asked;
      const step = selectUncharged(db, { accountId, mode, after }, span);
      const last = await step
        .select('created_at_ms')
        .offset(stepRows - 1)
        .limit(1)
        .execute();
      return last[0]?.created_at_ms ?? null;
    },
    read: async (span, rowsMax) => {
      const found = await selectUncharged(db, asked, span).selectAll().limit(rowsMax).execute();
      return found.map((row) => ({ createdAtMs: row.created_at_ms, id: row.request_id, row }));
    },
  });
  return { rows: rows.map(({ row }) => toLogged(row)), next };
}

function selectUncharged(
  db: Db,
  asked: Omit<UnchargedQuery, 'fromMs' | 'toMs' | 'limit'>,
  { fromMs, toMs }: Span,
) {
  let query = db
    .selectFrom('request_log')
    .where('account_id', '=', asked.accountId)
    .where('mode', '=', asked.mode)
    // A literal, because a partial index is used only when the SQL text contains its condition.
    .where('outcome', '<>', sql.lit('charged' as const));
  if (asked.outcomes) query = query.where('outcome', 'in', asked.outcomes);
  if (asked.code !== undefined) query = query.where('code', '=', asked.code);
  if (asked.keyId !== undefined) query = query.where('key_id', '=', asked.keyId);
  if (asked.modelId !== undefined) query = query.where('model_id', '=', asked.modelId);
  if (asked.member !== undefined)
    query = query.where(memberOfKey(db, 'request_log.key_id'), '=', asked.member);
  if (asked.weekHour !== undefined)
    query = query.where(sql<number>`(created_at_ms / 3600000 + 96) % 168`, '=', asked.weekHour);
  if (asked.durationMinMs !== undefined)
    query = query.where('duration_ms', '>=', asked.durationMinMs);
  if (asked.client !== undefined) query = query.where(isOfClient(asked.client));
  if (asked.tag !== undefined) {
    const position = isSqlite(db)
      ? sql<number>`instr(tags, ${`,${asked.tag},`})`
      : sql<number>`strpos(tags, ${`,${asked.tag},`})`;
    query = query.where(position, '>', 0);
  }
  if (asked.paths) query = query.where('path', 'in', asked.paths);
  if (fromMs !== null) query = query.where('created_at_ms', '>=', fromMs);
  const { after } = asked;
  // With two upper bounds, SQLite would search by the first and read all previous pages again.
  if (after && (toMs === null || after.createdAtMs < toMs))
    query = query.where((eb) =>
      eb(eb.refTuple('created_at_ms', 'request_id'), '<', eb.tuple(after.createdAtMs, after.id)),
    );
  else if (toMs !== null) query = query.where('created_at_ms', '<', toMs);
  return query.orderBy('created_at_ms', 'desc').orderBy('request_id', 'desc');
}

/** Returns the requests with these ids that the account's history has. */
export async function findLogged(
  db: Db,
  { accountId, requestIds }: { readonly accountId: string; readonly requestIds: readonly string[] },
): Promise<ReadonlyMap<string, LoggedRequest>> {
  if (requestIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('request_log')
    .selectAll()
    .where('request_id', 'in', requestIds)
    .where('account_id', '=', accountId)
    .execute();
  return new Map(rows.map((row) => [row.request_id, toLogged(row)]));
}

/** Returns the account of a request, charged or not; null: it is not known, or was removed. */
export async function findAccountOf(db: Db, requestId: string): Promise<string | null> {
  const logged = db
    .selectFrom('request_log')
    .select('account_id')
    .where('request_id', '=', requestId);
  const booked = db
    .selectFrom('entries')
    .innerJoin('ledgers', 'ledgers.id', 'entries.ledger_id')
    .select('ledgers.account_id')
    .where('entries.id', '=', requestId);
  const found = (await logged.executeTakeFirst()) ?? (await booked.executeTakeFirst());
  return found?.account_id ?? null;
}

function toLogged({ details, ...row }: RequestRow) {
  return {
    ...camelCase(row),
    streamed: row.streamed === 1,
    tags: row.tags === null ? [] : row.tags.slice(1, -1).split(','),
    notes: readNotes(details),
  };
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
  db: Db,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<readonly ProviderOverview[]> {
  const counts = await db
    .selectFrom('provider_hours')
    .select(({ fn }) => [
      'provider',
      'kind',
      'ending',
      'latency_bucket',
      fn.sum<number>('calls').as('calls'),
    ])
    .where('hour', '>=', hourOf(fromMs))
    .where('hour', '<=', hourOf(toMs - 1))
    .groupBy(['provider', 'kind', 'ending', 'latency_bucket'])
    .execute();
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

export type ModelLatency = {
  /** Time to the first piece of charged streams; null when there were none. */
  readonly first: Latency | null;
  /** Time to the end of all charged requests; null when there were none. */
  readonly whole: Latency | null;
  /** Mean time to the end in milliseconds, to within 10 %. */
  readonly meanWholeMs: number | null;
};

/** Returns an account's latencies of models, by their ids. Days are UTC and inclusive. */
export async function readModelLatencies(
  db: Db,
  range: ActivityRange,
  modelIds: readonly string[],
): Promise<ReadonlyMap<string, ModelLatency>> {
  const sums = await sumLatencies(db, range, 'model', modelIds);
  return new Map(
    [...Map.groupBy(sums, ({ group }) => group)].map(([modelId, own]) => {
      const buckets = (kind: 'first' | 'whole') =>
        new Map(
          own.filter((sum) => sum.kind === kind).map(({ bucket, requests }) => [bucket, requests]),
        );
      const whole = latencyOf(buckets('whole'));
      const meanWholeMs = whole && totalMsOf(buckets('whole')) / whole.calls;
      return [modelId, { first: latencyOf(buckets('first')), whole, meanWholeMs }];
    }),
  );
}

/**
 * Returns the last use of keys in Unix milliseconds, exact to a few seconds. Keys that were never
 * used are missing.
 */
export async function readKeyUses(
  read: Db,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (keyIds.length === 0) return new Map();
  const rows = await read
    .selectFrom('key_uses')
    .selectAll()
    .where('key_id', 'in', keyIds)
    .execute();
  return new Map(rows.map((row) => [row.key_id, row.last_used_at_ms]));
}
