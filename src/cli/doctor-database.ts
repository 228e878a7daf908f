// The database: reachable, whole, of a version that this program can use, with safe settings, and
// with a clock like this machine's. Nothing is migrated.
import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { PoolClient } from 'pg';
import { DatabaseUnusable } from '../db/database-error.ts';
import { pendingMigrations } from '../db/migrate.ts';
import { type Migrations, migrations } from '../db/migrations/list.ts';
import { createInUtf8, encodings, majorVersionMin } from '../db/postgres/database.ts';
import { explainPostgresError } from '../db/postgres/error.ts';
import { connectSqlite } from '../db/sqlite/connection.ts';
import { explainSqliteError } from '../db/sqlite/error.ts';
import { systemClock } from '../lib/clock.ts';
import { type Finding, findingsOf } from '../management/changes/set-up-findings.ts';

const database = findingsOf('database');
const clock = findingsOf('clock');

const clockErrorMsMax = 5_000;
const checkTimeoutMs = 10_000;

export function examineSqlite(path: string): Finding[] {
  if (!existsSync(path))
    return [database.ok(`There is no database at ${path} yet; the first start makes it.`)];
  let connection: DatabaseSync | null = null;
  try {
    connection = connectSqlite(path, { readOnly: true });
    const rows = connection.prepare('pragma quick_check(1)').all() as { quick_check: string }[];
    const problem = rows[0]?.quick_check ?? 'no answer';
    if (problem !== 'ok')
      return [
        database.error(
          `The database ${path} is damaged: ${problem}.`,
          'Restore a backup: see "Restore" in docs/operations.md.',
        ),
      ];
    return [
      database.ok(`The database ${path} is readable and not damaged.`),
      ...examineVersion(namesIn(connection), migrations.sqlite),
      ...examineNewest(newestEntryIn(connection)),
    ];
  } catch (error) {
    return [unusable(explainSqliteError(error, path))];
  } finally {
    connection?.close();
  }
}

function namesIn(connection: DatabaseSync): string[] {
  const rows = connection.prepare('select name from kysely_migration order by name').all();
  return rows.map((row) => (row as { name: string }).name);
}

function newestEntryIn(connection: DatabaseSync): number | null {
  const row = connection.prepare('select max(created_at_ms) as ms from entries').get();
  return (row as { ms: number | null }).ms;
}

/** SQLite has no clock of its own, but the books know when they were last written. */
function examineNewest(newestMs: number | null): Finding[] {
  const aheadMs = (newestMs ?? 0) - systemClock.nowMs();
  if (aheadMs <= clockErrorMsMax) return [];
  return [
    clock.error(
      `The newest entry of the books is ${seconds(aheadMs)} in the future, so this machine's clock went back.`,
      'Synchronise it by NTP. Days in the books end late until it has caught up.',
    ),
  ];
}

export async function examinePostgres(url: string): Promise<Finding[]> {
  const { connectPool } = await import('../db/postgres/pool.ts');
  const pool = connectPool(url, { max: 1, isReadOnly: true, statementTimeoutMs: checkTimeoutMs });
  try {
    const client = await pool.connect();
    try {
      return await examineServer(client);
    } finally {
      client.release(true);
    }
  } catch (error) {
    return [unusable(explainPostgresError(error, url))];
  } finally {
    await pool.end();
  }
}

type Server = {
  readonly version: string;
  readonly number: number;
  readonly encoding: string;
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly connections: number;
  readonly standby: boolean;
  readonly ms: number;
  readonly pid: number;
  readonly has_tables: boolean;
};

const question = `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
  current_setting('server_encoding') as encoding, current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
  current_setting('max_connections')::int as connections, pg_is_in_recovery() as standby, pg_backend_pid() as pid,
  (extract(epoch from clock_timestamp()) * 1000)::float8 as ms, to_regclass('kysely_migration') is not null as has_tables`;

/** A gateway with one thread opens so many; docs/operations.md has more. */
const connectionsOfGateway = 26;

async function examineServer(client: PoolClient): Promise<Finding[]> {
  const beforeMs = systemClock.nowMs();
  const { rows } = await client.query<Server>(question);
  const afterMs = systemClock.nowMs();
  const server = rows[0]!;
  const isPooled = (client as unknown as { processID: number }).processID !== server.pid;
  return [
    database.ok(
      `PostgreSQL ${server.version} answers${isPooled ? ' through a connection pooler' : ''}.`,
    ),
    ...examineSettings(server),
    ...examineClock(server.ms, { beforeMs, afterMs }),
    ...(server.has_tables
      ? examineVersion(await namesOn(client), migrations.postgres)
      : [database.ok('The database is empty; the first start makes its tables.')]),
  ];
}

async function namesOn(client: PoolClient): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    'select name from kysely_migration order by name',
  );
  return rows.map(({ name }) => name);
}

function examineSettings(server: Server): Finding[] {
  const unsafe = (['fsync', 'full_page_writes'] as const).filter((name) => server[name] === 'off');
  return [
    ...(server.number < majorVersionMin * 10_000
      ? [database.error(`PostgreSQL is too old.`, `Upgrade it to ${majorVersionMin} or newer.`)]
      : []),
    ...(encodings.includes(server.encoding)
      ? []
      : [database.error(`The database has the encoding ${server.encoding}.`, createInUtf8)]),
    ...(server.standby
      ? [database.error('The server is a read-only standby.', 'Name the primary in database.url.')]
      : []),
    ...unsafe.map((name) =>
      database.warning(
        `The server runs with ${name} = off: a power cut can destroy the books.`,
        `Set ${name} = on in postgresql.conf.`,
      ),
    ),
    ...(server.connections < connectionsOfGateway
      ? [
          database.warning(
            `The server allows ${server.connections} connections, and one gateway opens up to ${connectionsOfGateway}.`,
            'Raise max_connections, or use a connection pooler (docs/operations.md).',
          ),
        ]
      : []),
  ];
}

type Moment = { readonly beforeMs: number; readonly afterMs: number };

function examineClock(serverMs: number, { beforeMs, afterMs }: Moment): Finding[] {
  const errorMs = Math.max(beforeMs - serverMs, serverMs - afterMs, 0);
  if (errorMs <= clockErrorMsMax)
    return [clock.ok("This machine's clock agrees with the database's.")];
  return [
    clock.warning(
      `This machine's clock and the database's differ by ${seconds(errorMs)}.`,
      'Synchronise both machines by NTP.',
    ),
  ];
}

function examineVersion(recorded: readonly string[], known: Migrations): Finding[] {
  let pending: readonly string[];
  try {
    pending = Object.keys(pendingMigrations(recorded, known));
  } catch (error) {
    return [unusable(error)];
  }
  if (pending.length > 0)
    return [
      database.warning(
        `The database lacks migrations of this version: ${pending.join(', ')}.`,
        'Make a backup; the next start or "tollgate migrate" runs them (docs/upgrading.md).',
      ),
    ];
  return [database.ok(`The newest migration is ${recorded.at(-1) ?? 'none'}.`)];
}

/** Any other error is a bug, whose text could hold a secret. */
function unusable(error: unknown): Finding {
  const isKnown = error instanceof DatabaseUnusable;
  const what = isKnown ? error.message : `The database cannot be used (${nameOf(error)}).`;
  return database.error(what, isKnown ? null : 'Start the gateway and read its log.');
}

function nameOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: string; name?: string };
  return code ?? name ?? 'unknown';
}

const seconds = (ms: number) => `${Math.round(ms / 1_000)} s`;
