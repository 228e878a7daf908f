// Tables of activity that the ledger does not book, written in small statements that do not wait
// for the disk.
import { setImmediate } from 'node:timers/promises';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type {
  ActivityDaysTable,
  ActivityHoursTable,
  ActivityTagDaysTable,
  LatencySumsTable,
  ProviderHoursTable,
  RequestLogTable,
} from '../../db/schema.ts';

export type ActivityRow = Selectable<ActivityDaysTable>;
export type RequestRow = Selectable<RequestLogTable>;
export type LatencySumRow = Selectable<LatencySumsTable>;
export type HourRow = Selectable<ActivityHoursTable>;
export type TagDayRow = Selectable<ActivityTagDaysTable>;
export type ProviderRow = Selectable<ProviderHoursTable>;

type Named<Value> = readonly (readonly [string, Value])[];
/** Receives the rows that were not written. */
type Unwritten<Value> = (rest: Named<Value>) => void;

/** Uncharged requests kept per account and mode. They cost a client nothing, so they are bounded. */
const unchargedRowsMax = 100_000;
/** Charts show up to a year. */
const daysKeptMs = 400 * 86_400_000;
const hoursKeptMs = 100 * 86_400_000;

export function addActivity(
  database: Database,
  rows: Named<ActivityRow>,
  unwritten: Unwritten<ActivityRow>,
): Promise<void> {
  const sum = (name: 'requests' | 'saved_micros' | 'input_tokens' | 'output_tokens') =>
    sql<never>`activity_days.${sql.ref(name)} + excluded.${sql.ref(name)}`;
  return inSteps(rows, unwritten, async (step) => {
    await database.transient
      .insertInto('activity_days')
      .values(step.map(([, row]) => row))
      .onConflict((conflict) =>
        conflict
          .columns(['account_id', 'mode', 'day', 'key_id', 'model_id', 'outcome'])
          .doUpdateSet({
            requests: sum('requests'),
            saved_micros: sum('saved_micros'),
            input_tokens: sum('input_tokens'),
            output_tokens: sum('output_tokens'),
          }),
      )
      .execute();
  });
}

export function addRequests(
  database: Database,
  rows: Named<RequestRow>,
  unwritten: Unwritten<RequestRow>,
): Promise<void> {
  return inSteps(rows, unwritten, async (step) => {
    await database.transient
      .insertInto('request_log')
      .values(step.map(([, row]) => row))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  });
}

export function addLatencies(
  database: Database,
  rows: Named<LatencySumRow>,
  unwritten: Unwritten<LatencySumRow>,
): Promise<void> {
  return inSteps(rows, unwritten, async (step) => {
    await database.transient
      .insertInto('latency_sums')
      .values(step.map(([, row]) => row))
      .onConflict((conflict) =>
        conflict
          .columns([
            'account_id',
            'mode',
            'grouped_by',
            'period',
            'group_id',
            'kind',
            'latency_bucket',
          ])
          .doUpdateSet({ requests: sql<number>`latency_sums.requests + excluded.requests` }),
      )
      .execute();
  });
}

export function addHours(
  database: Database,
  rows: Named<HourRow>,
  unwritten: Unwritten<HourRow>,
): Promise<void> {
  const sum = (name: 'requests' | 'errors' | 'cost_micros' | 'input_tokens' | 'output_tokens') =>
    sql<never>`activity_hours.${sql.ref(name)} + excluded.${sql.ref(name)}`;
  return inSteps(rows, unwritten, async (step) => {
    await database.transient
      .insertInto('activity_hours')
      .values(step.map(([, row]) => row))
      .onConflict((conflict) =>
        conflict.columns(['account_id', 'mode', 'hour', 'provider']).doUpdateSet({
          requests: sum('requests'),
          errors: sum('errors'),
          cost_micros: sum('cost_micros'),
          input_tokens: sum('input_tokens'),
          output_tokens: sum('output_tokens'),
        }),
      )
      .execute();
  });
}

export function addTagDays(
  database: Database,
  rows: Named<TagDayRow>,
  unwritten: Unwritten<TagDayRow>,
): Promise<void> {
  const sum = (name: 'requests' | 'saved_micros') =>
    sql<never>`activity_tag_days.${sql.ref(name)} + excluded.${sql.ref(name)}`;
  return inSteps(rows, unwritten, async (step) => {
    await database.transient
      .insertInto('activity_tag_days')
      .values(step.map(([, row]) => row))
      .onConflict((conflict) =>
        conflict
          .columns(['account_id', 'mode', 'day', 'tag', 'outcome'])
          .doUpdateSet({ requests: sum('requests'), saved_micros: sum('saved_micros') }),
      )
      .execute();
  });
}

export function addKeyUses(
  database: Database,
  uses: Named<number>,
  unwritten: Unwritten<number>,
): Promise<void> {
  return inSteps(uses, unwritten, async (step) => {
    await database.transient
      .insertInto('key_uses')
      .values(step.map(([key_id, last_used_at_ms]) => ({ key_id, last_used_at_ms })))
      .onConflict((conflict) =>
        conflict
          .column('key_id')
          .doUpdateSet({ last_used_at_ms: sql<number>`excluded.last_used_at_ms` })
          .where('key_uses.last_used_at_ms', '<', sql<number>`excluded.last_used_at_ms`),
      )
      .execute();
  });
}

export function addProviderCalls(
  database: Database,
  rows: Named<ProviderRow>,
  unwritten: Unwritten<ProviderRow>,
): Promise<void> {
  return inSteps(rows, unwritten, async (step) => {
    await database.transient
      .insertInto('provider_hours')
      .values(step.map(([, row]) => row))
      .onConflict((conflict) =>
        conflict
          .columns(['hour', 'provider', 'kind', 'ending', 'latency_bucket'])
          .doUpdateSet({ calls: sql<number>`provider_hours.calls + excluded.calls` }),
      )
      .execute();
  });
}

/** Rows per statement, so that other writers never wait long. */
const stepRows = 200;

async function inSteps<Value>(
  rows: Named<Value>,
  unwritten: Unwritten<Value>,
  write: (step: Named<Value>) => Promise<void>,
): Promise<void> {
  for (let start = 0; start < rows.length; start += stepRows) {
    try {
      await write(rows.slice(start, start + stepRows));
    } catch (error) {
      unwritten(rows.slice(start));
      throw error;
    }
    if (start + stepRows < rows.length) await setImmediate();
  }
}

/** Removes rows older than their retention, and the oldest uncharged requests of an account. */
export async function removeOutdated(
  database: Database,
  nowMs: number,
  {
    historyDays,
    unchargedMax = unchargedRowsMax,
  }: { readonly historyDays: number; readonly unchargedMax?: number },
): Promise<void> {
  const iso = (ms: number, length: number) => new Date(ms).toISOString().slice(0, length);
  const day = iso(nowMs - daysKeptMs, 10);
  const outdated = [
    {
      table: 'request_log',
      key: requestKey,
      where: sql`created_at_ms < ${nowMs - historyDays * 86_400_000}`,
    },
    ...(await findOverfull(database, unchargedMax)).map((where) => ({
      table: 'request_log',
      key: requestKey,
      where,
    })),
    {
      table: 'latency_sums',
      key: 'account_id, mode, grouped_by, period, group_id, kind, latency_bucket',
      where: sql`period < ${day}`,
    },
    {
      table: 'activity_days',
      key: 'account_id, mode, day, key_id, model_id, outcome',
      where: sql`day < ${day}`,
    },
    {
      table: 'activity_hours',
      key: 'account_id, mode, hour, provider',
      where: sql`hour < ${day}`,
    },
    {
      table: 'activity_tag_days',
      key: 'account_id, mode, day, tag, outcome',
      where: sql`day < ${day}`,
    },
    {
      table: 'provider_hours',
      key: 'hour, provider, kind, ending, latency_bucket',
      where: sql`hour < ${iso(nowMs - hoursKeptMs, 13)}`,
    },
  ];
  for (const { table, key, where } of outdated) {
    const [name, columns] = [sql.table(table), sql.raw(key)];
    const statement = sql`delete from ${name} where (${columns}) in (
      select ${columns} from ${name} where ${where} limit ${sql.lit(stepRows)}
    )`;
    while (Number((await statement.execute(database.transient)).numAffectedRows ?? 0n) === stepRows)
      await setImmediate();
  }
}

const requestKey = 'account_id, mode, created_at_ms, request_id';

/** Returns conditions for the uncharged requests beyond the newest of each account and mode. */
async function findOverfull(
  { read }: Database,
  rowsMax: number,
): Promise<readonly RawBuilder<unknown>[]> {
  const overfull = await read
    .selectFrom('request_log')
    .select(['account_id', 'mode'])
    .where('outcome', '<>', sql.lit('charged' as const))
    .groupBy(['account_id', 'mode'])
    .having(({ fn }) => fn.countAll(), '>', rowsMax)
    .execute();
  return overfull.map(({ account_id: account, mode }) => {
    const own = sql`account_id = ${account} and mode = ${mode} and outcome <> 'charged'`;
    return sql`${own} and (created_at_ms, request_id) < (
      select created_at_ms, request_id from request_log where ${own}
      order by created_at_ms desc, request_id desc limit 1 offset ${sql.lit(rowsMax - 1)}
    )`;
  });
}
