// Tables of activity that the ledger does not book, written in small statements that do not wait
// for the disk.
import { setImmediate } from 'node:timers/promises';
import { CompiledQuery, type RawBuilder, type Selectable, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { isSqlite } from '../../db/dialect.ts';
import type { Db, Tables } from '../../db/schema.ts';
import { columnsOf, keyOf, tables } from '../../db/tables.ts';
import { checkTextValue } from '../../db/text-values.ts';
import type { Mode } from '../../terms/mode.ts';
import { dayMs, dayOf, hourOf } from '../../lib/utc-time.ts';
import { measuredTagsMax } from './measured-tags.ts';

/** Tables of sums: all columns but a row's key are added up when the row exists. */
export const sumTables = [
  'activity_days',
  'latency_sums',
  'activity_hours',
  'activity_tag_days',
  'provider_hours',
] as const;

export type SumTable = (typeof sumTables)[number];

export function keyAndSumsOf(table: SumTable): readonly [key: string[], sums: string[]] {
  const key = keyOf(tables[table]);
  const columns = columnsOf(tables[table]).map(([column]) => column);
  return [key, columns.filter((column) => !key.includes(column))];
}

export type SumRow<Table extends SumTable> = Selectable<Tables[Table]>;
export type RequestRow = Selectable<Tables['request_log']>;
export type KeyUse = Tables['key_uses'];

/** A row of any table of sums. */
export type Sums = Record<string, string | number>;
/** Receives the rows that were not written. */
type Unwritten<Row> = (rest: readonly Row[]) => void;

/** Uncharged requests kept per account and mode. They cost a client nothing, so they are bounded. */
const unchargedRowsMax = 100_000;
/** Charts show up to a year. */
const daysKeptMs = 400 * dayMs;
const hoursKeptMs = 100 * dayMs;

/** Adds the rows to those with the same key, or inserts them. */
export function addSums(
  database: Database,
  table: SumTable,
  rows: readonly Sums[],
  unwritten: Unwritten<Sums>,
): Promise<void> {
  const [, sums] = keyAndSumsOf(table);
  const added = sums.map((name) => `${name} = ${table}.${name} + excluded.${name}`);
  const conflict = `${tables[table]['primary key']} do update set ${added.join(', ')}`;
  return inSteps(rows, unwritten, (step) =>
    insertRows(database.transient, table, { rows: step, conflict }),
  );
}

/** Returns tags of an account, mode (`owner`) and day that have counts or latencies. */
export async function readStoredTags(
  { read }: Database,
  owner: string,
  day: string,
): Promise<readonly string[]> {
  const [accountId, mode] = owner.split(' ') as [string, Mode];
  const rows = await read
    .selectFrom('activity_tag_days')
    .select('tag')
    .where('account_id', '=', accountId)
    .where('mode', '=', mode)
    .where('day', '=', day)
    .union(
      read
        .selectFrom('latency_sums')
        .select('group_id as tag')
        .where('account_id', '=', accountId)
        .where('mode', '=', mode)
        .where('grouped_by', '=', 'tag')
        .where('period', '=', day),
    )
    .limit(measuredTagsMax)
    .execute();
  return rows.map(({ tag }) => tag);
}

export function addRequests(
  database: Database,
  rows: readonly RequestRow[],
  unwritten: Unwritten<RequestRow>,
): Promise<void> {
  return inSteps(rows, unwritten, (step) =>
    insertRows(database.transient, 'request_log', { rows: step, conflict: 'do nothing' }),
  );
}

export function addKeyUses(
  database: Database,
  uses: readonly KeyUse[],
  unwritten: Unwritten<KeyUse>,
): Promise<void> {
  const conflict = `(key_id) do update set last_used_at_ms = excluded.last_used_at_ms
    where key_uses.last_used_at_ms < excluded.last_used_at_ms`;
  return inSteps(uses, unwritten, (step) =>
    insertRows(database.transient, 'key_uses', { rows: step, conflict }),
  );
}

type Inserted = {
  /** All have the same columns. */
  readonly rows: readonly Readonly<Record<string, string | number | null>>[];
  /** The SQL after `on conflict`: what to do with a row that exists already. */
  readonly conflict: string;
};

/** Not by Kysely's builder, which takes as long for a row as the database. */
async function insertRows(
  db: Db,
  table: keyof Tables,
  { rows, conflict }: Inserted,
): Promise<void> {
  const columns = Object.keys(rows[0]!);
  const values = rows.flatMap((row) => columns.map((column) => row[column]));
  values.forEach(checkTextValue);
  let parameters = 0;
  const place = isSqlite(db) ? () => '?' : () => `$${(parameters += 1)}`;
  const places = rows.map(() => `(${columns.map(place).join(', ')})`);
  const statement = `insert into ${table} (${columns.join(', ')}) values ${places.join(', ')}
    on conflict ${conflict}`;
  await db.executeQuery(CompiledQuery.raw(statement, values));
}

/** Rows per statement, so that other writers never wait long. */
const stepRows = 200;

async function inSteps<Row>(
  rows: readonly Row[],
  unwritten: Unwritten<Row>,
  write: (step: readonly Row[]) => Promise<void>,
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
  const day = dayOf(nowMs - daysKeptMs);
  const outdated: readonly (readonly [SumTable | 'request_log', RawBuilder<unknown>])[] = [
    ['request_log', sql`created_at_ms < ${nowMs - historyDays * dayMs}`],
    ...(await findOverfull(database, unchargedMax)).map((where) => ['request_log', where] as const),
    ['latency_sums', sql`period < ${day}`],
    ['activity_days', sql`day < ${day}`],
    ['activity_hours', sql`hour < ${day}`],
    ['activity_tag_days', sql`day < ${day}`],
    ['provider_hours', sql`hour < ${hourOf(nowMs - hoursKeptMs)}`],
  ];
  for (const [table, where] of outdated) {
    const [name, columns] = [sql.table(table), keyOf(tables[table]).map((key) => sql.ref(key))];
    const statement = sql`delete from ${name} where (${sql.join(columns)}) in (
      select ${sql.join(columns)} from ${name} where ${where} limit ${sql.lit(stepRows)}
    )`;
    while (Number((await statement.execute(database.transient)).numAffectedRows ?? 0n) === stepRows)
      await setImmediate();
  }
}

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
