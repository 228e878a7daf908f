// Kysely on PostgreSQL, with one addition that the port promises: a read-only transaction sees one
// snapshot. Migrations take turns by a lock that also works behind a pooler.
import {
  CompiledQuery,
  type DatabaseConnection,
  PostgresAdapter,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresDriver,
  PostgresQueryCompiler,
  type TransactionSettings,
} from 'kysely';
import { checkTextValue } from '../text-values.ts';

export class SnapshotPostgresDialect extends PostgresDialect {
  protected readonly config: PostgresDialectConfig;

  constructor(config: PostgresDialectConfig) {
    super(config);
    this.config = config;
  }

  override createDriver(): PostgresDriver {
    return new SnapshotDriver(this.config);
  }

  override createQueryCompiler(): PostgresQueryCompiler {
    return new CheckingCompiler();
  }
}

class CheckingCompiler extends PostgresQueryCompiler {
  protected override addParameter(parameter: unknown): void {
    checkTextValue(parameter);
    super.addParameter(parameter);
  }
}

type PostgresConnection = Parameters<PostgresDriver['rollbackTransaction']>[0];

class SnapshotDriver extends PostgresDriver {
  /**
   * By default PostgreSQL shows each statement the latest commits; SQLite gives every transaction a
   * snapshot.
   */
  override async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    const isSnapshot = settings.accessMode === 'read only' && settings.isolationLevel === undefined;
    try {
      await super.beginTransaction(
        connection,
        isSnapshot ? { ...settings, isolationLevel: 'repeatable read' } : settings,
      );
    } catch (error) {
      // Kysely returns the connection to its pool, perhaps inside a transaction that has failed.
      await this.rollbackTransaction(connection as PostgresConnection).catch(() => {});
      throw error;
    }
  }
}

/** For migrations: each transaction holds the lock to its end, so that gateways take turns. */
export class MigrationDialect extends SnapshotPostgresDialect {
  override createAdapter(): PostgresAdapter {
    return new LocklessAdapter();
  }

  override createDriver(): PostgresDriver {
    return new LockingDriver(this.config);
  }
}

/**
 * Kysely's lock belongs to the session. Behind a pooler it would be released in another one, and so
 * never: the next migration would wait for it.
 */
class LocklessAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}

  override async releaseMigrationLock(): Promise<void> {}
}

/** Kysely's id, so that older versions of Tollgate wait for the lock too. */
const migrationLockId = 3_853_314_791_062_309_107n;
const turnTimeoutMs = 3_600_000;
/** While a migration waits for a table, so do the requests that come after it. */
const lockTimeoutMs = 500;

class LockingDriver extends SnapshotDriver {
  override async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    await super.beginTransaction(connection, settings);
    const run = (sql: string) => connection.executeQuery(CompiledQuery.raw(sql));
    // As long as Kysely's own lock waits.
    await run(`select set_config('lock_timeout', '${turnTimeoutMs}', true)`);
    await run(`select pg_advisory_xact_lock(${migrationLockId})`);
    await run(`select set_config('lock_timeout', '${lockTimeoutMs}', true)`);
  }
}
