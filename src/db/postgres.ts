// PostgreSQL behind the port: a read-only pool for queries, one for accounts and keys, and one for
// transient rows. pg is loaded with the first connection, so SQLite installations never load it.
import { Kysely, type PostgresPool, sql } from 'kysely';
import type { Database } from './port.ts';
import { DatabaseUnusable } from './database-error.ts';
import { migrateToLatest } from './migrate.ts';
import { migrations } from './migrations/list.ts';
import { MigrationDialect, SnapshotPostgresDialect } from './postgres-dialect.ts';
import { explainPostgresError } from './postgres-error.ts';
import type { PoolOptions } from './postgres-pool.ts';
import type { Tables } from './schema.ts';

/** The oldest version that is still maintained and that the tests cover. */
const majorVersionMin = 14;
const readPool = { max: 10, isReadOnly: true };
const writePool = { max: 3 };
const transientPool = { max: 10, settings: { synchronous_commit: 'off' } };
/**
 * No page of a list takes this long; a client is better served by an error than by a longer wait.
 */
const statementTimeoutMs = 30_000;

/** `noQueryTimeout`: for commands that read the whole ledger. */
export function openPostgres(url: string, { noQueryTimeout = false } = {}): Database {
  const write = kyselyOn(url, { ...writePool, statementTimeoutMs });
  const transient = kyselyOn(url, { ...transientPool, statementTimeoutMs });
  const read = kyselyOn(url, {
    ...readPool,
    statementTimeoutMs: noQueryTimeout ? 0 : statementTimeoutMs,
  });
  return {
    url,
    read,
    write,
    transient,
    migrate: () => migrate(url),
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
  const db = kyselyOn(url, { max: 2, statementTimeoutMs: 0 }, MigrationDialect);
  try {
    await db.transaction().execute(checkVersion);
    return await migrateToLatest(db, migrations.postgres);
  } catch (error) {
    throw explain(error, url);
  } finally {
    await db.destroy();
  }
}

function kyselyOn(
  url: string,
  options: PoolOptions,
  Dialect = SnapshotPostgresDialect,
): Kysely<Tables> {
  const pool = async (): Promise<PostgresPool> =>
    (await import('./postgres-pool.ts')).connectPool(url, options);
  return new Kysely<Tables>({ dialect: new Dialect({ pool }) });
}

async function checkVersion(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ number: number; version: string; standby: boolean }>`
    select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
      pg_is_in_recovery() as standby`.execute(db);
  const { number, version, standby } = rows[0]!;
  if (number < majorVersionMin * 10_000) {
    throw new DatabaseUnusable(
      `Tollgate needs PostgreSQL ${majorVersionMin} or newer; the server of database.url is ${version}.`,
    );
  }
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
