// PostgreSQL behind the port: a read-only pool for queries, one for accounts and keys, and one for
// transient rows. pg is loaded with the first connection, so SQLite installations never load it.
import { Kysely, type PostgresPool, sql } from 'kysely';
import type { Pool as OpenPool } from 'pg';
import { systemClock } from '../../lib/clock.ts';
import type { Database, DatabaseOptions } from '../port.ts';
import { DatabaseUnusable } from '../database-error.ts';
import { migrateToLatest } from '../migrate.ts';
import { migrations } from '../migrations/list.ts';
import { MigrationDialect, SnapshotPostgresDialect } from './dialect.ts';
import { explainPostgresError } from './error.ts';
import { poolStateOf, type PoolState } from '../pool-state.ts';
import type { Db, Tables } from '../schema.ts';
import type { PoolOptions } from './pool.ts';

/** The oldest version that is still maintained and that the tests cover. */
export const majorVersionMin = 14;
/** SQL_ASCII keeps the bytes as they are. */
export const encodings: readonly string[] = ['UTF8', 'SQL_ASCII'];
/** Names a locale, because `createdb` refuses one of another encoding, which the server may have. */
export const createInUtf8 =
  'Create one with "createdb --encoding=UTF8 --locale=C.UTF-8 --template=template0".';
const readPool = { max: 10, isReadOnly: true };
const writePool = { max: 3 };
/** The fewest connections of a pool, however many threads share it. */
const threadConnectionsMin = 2;
const transientPool = { max: 10, settings: { synchronous_commit: 'off' } };
/**
 * No page of a list takes this long; a client is better served by an error than by a longer wait.
 */
const statementTimeoutMs = 30_000;

export function openPostgres(
  url: string,
  { noQueryTimeout = false, threads = 1 }: DatabaseOptions = {},
): Database {
  const shared = <Pool extends { readonly max: number }>(pool: Pool): Pool => ({
    ...pool,
    max: Math.max(threadConnectionsMin, Math.ceil(pool.max / threads)),
  });
  const states: (() => PoolState)[] = [];
  const open = (name: string, options: PoolOptions) =>
    kyselyOn(url, options, {
      onOpen: (pool) => states.push(() => poolStateOf(name, pool, options.max)),
    });
  const write = open('write', { ...shared(writePool), statementTimeoutMs });
  const transient = open('transient', { ...shared(transientPool), statementTimeoutMs });
  const read = open('read', {
    ...shared(readPool),
    statementTimeoutMs: noQueryTimeout ? 0 : statementTimeoutMs,
  });
  return {
    url,
    read,
    write,
    transient,
    migrate: () => migrate(url),
    pools: () => states.map((state) => state()),
    close: async () => {
      await Promise.all([read.destroy(), write.destroy(), transient.destroy()]);
    },
  };
}

/**
 * Uses its own connections without a timeout: migrating a large table takes longer than other
 * statements may.
 */
async function migrate(url: string): Promise<readonly string[]> {
  const options = { max: 2, statementTimeoutMs: 0 };
  const db = kyselyOn(url, options, { Dialect: MigrationDialect });
  try {
    await db.transaction().execute(checkServer);
    return await migrateToLatest(db, migrations.postgres, (work) => whileAlone(url, work));
  } catch (error) {
    throw explain(error, url);
  } finally {
    await db.destroy();
  }
}

type KyselyOptions = {
  readonly Dialect?: typeof SnapshotPostgresDialect;
  readonly onOpen?: (pool: OpenPool) => void;
};
/** Not the lock of migrations in transactions: an index is not built while a statement waits for one. */
const aloneLockId = 3_853_314_791_062_309_108n;
const alonePauseMs = 250;

/** Runs the work while no other process does so. It has its own connections. */
async function whileAlone(url: string, work: () => Promise<void>): Promise<void> {
  const db = kyselyOn(url, { max: 1, statementTimeoutMs: 0 });
  const tryOnce = () =>
    db.transaction().execute(async (transaction) => {
      const { rows } = await sql<{ isAlone: boolean }>`
        select pg_try_advisory_xact_lock(${aloneLockId}) as "isAlone"`.execute(transaction);
      // Last, because the result of a query keeps its snapshot until the next statement, and an
      // index that is built concurrently waits for all snapshots.
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(transaction);
      if (rows[0]!.isAlone) await work();
      return rows[0]!.isAlone;
    });
  try {
    while (!(await tryOnce())) await systemClock.sleep(alonePauseMs);
  } finally {
    await db.destroy();
  }
}

function kyselyOn(
  url: string,
  options: PoolOptions,
  { Dialect = SnapshotPostgresDialect, onOpen = () => {} }: KyselyOptions = {},
): Db {
  const pool = async (): Promise<PostgresPool> => {
    const opened = (await import('./pool.ts')).connectPool(url, options);
    onOpen(opened);
    return opened;
  };
  return new Kysely<Tables>({ dialect: new Dialect({ pool }) });
}

async function checkServer(db: Db): Promise<void> {
  const { rows } = await sql<{
    number: number;
    version: string;
    encoding: string;
    standby: boolean;
  }>`
    select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
      current_setting('server_encoding') as encoding, pg_is_in_recovery() as standby`.execute(db);
  const { number, version, encoding, standby } = rows[0]!;
  if (number < majorVersionMin * 10_000) {
    throw new DatabaseUnusable(
      `Tollgate needs PostgreSQL ${majorVersionMin} or newer; the server of database.url is ${version}.`,
    );
  }
  if (!encodings.includes(encoding))
    throw new DatabaseUnusable(
      `The database of database.url has the encoding ${encoding}, in which most letters of the world cannot be written. ${createInUtf8}`,
    );
  if (standby)
    throw new DatabaseUnusable(
      'The server of database.url is a standby, which is read-only. Use the primary in database.url.',
    );
}

/** The migrator wraps the server's error. */
function explain(error: unknown, url: string): unknown {
  const reason =
    error instanceof Error && error.cause !== undefined
      ? explainPostgresError(error.cause, url)
      : null;
  return reason instanceof DatabaseUnusable ? reason : explainPostgresError(error, url);
}
