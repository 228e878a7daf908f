// Kysely over node:sqlite: adapts Kysely's SQLite dialect, which was written for another driver.
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
  SqliteQueryCompiler,
  type SqliteStatement,
  type TransactionSettings,
} from 'kysely';
import { checkTextValue } from '../text-values.ts';
import { busyTimeoutMs } from './connection.ts';
import { isBusy } from './error.ts';
import { systemClock } from '../../lib/clock.ts';

const retryMs = 2;

/** The bound of the prepared-statement cache; the product has fewer statements. */
const statementsMax = 200;

export class NodeSqliteDialect extends SqliteDialect {
  readonly #database: SqliteDatabase;
  readonly #connection: DatabaseSync;

  constructor(connection: DatabaseSync) {
    const database = adaptConnection(connection);
    super({ database });
    this.#database = database;
    this.#connection = connection;
  }

  override createDriver(): SqliteDriver {
    return new ImmediateDriver({ database: this.#database }, this.#connection);
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }

  override createQueryCompiler(): SqliteQueryCompiler {
    return new CheckingCompiler();
  }
}

class CheckingCompiler extends SqliteQueryCompiler {
  protected override addParameter(parameter: unknown): void {
    checkTextValue(parameter);
    super.addParameter(parameter);
  }
}

/**
 * Without this, Kysely runs migrations outside a transaction, and a failed one stays half applied.
 */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class ImmediateDriver extends SqliteDriver {
  readonly #opened: DatabaseSync;
  #patient: DatabaseConnection | null = null;

  constructor(config: SqliteDialectConfig, opened: DatabaseSync) {
    super(config);
    this.#opened = opened;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    return (this.#patient ??= waitForOthers(await super.acquireConnection()));
  }

  /**
   * A plain `begin` takes the write lock at the first write. If another connection wrote in
   * between, that fails immediately, whatever the timeout.
   */
  override async beginTransaction(
    connection: DatabaseConnection,
    settings?: TransactionSettings,
  ): Promise<void> {
    await connection.executeQuery(
      CompiledQuery.raw(settings?.accessMode === 'read only' ? 'begin' : 'begin immediate'),
    );
  }

  /**
   * A full disk makes SQLite roll back by itself. A second rollback would fail and hide the cause.
   */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#opened.isTransaction) await super.rollbackTransaction(connection);
  }
}

/**
 * Retries while the ledger's worker or another process writes, so that this thread keeps serving.
 * SQLite's own waiting would block the thread, and deadlock it if this same thread holds the
 * transaction.
 */
function waitForOthers(connection: DatabaseConnection): DatabaseConnection {
  return {
    executeQuery: async (query) => {
      for (
        const deadlineMs = systemClock.elapsedMs() + busyTimeoutMs;
        ;
        await systemClock.sleep(retryMs)
      ) {
        try {
          return await connection.executeQuery(query);
        } catch (error) {
          if (!isBusy(error) || systemClock.elapsedMs() > deadlineMs) throw error;
        }
      }
    },
    streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
  };
}

function adaptConnection(connection: DatabaseSync): SqliteDatabase {
  const prepared = new Map<string, SqliteStatement>();
  return {
    prepare: (sql) => {
      const statement = prepared.get(sql) ?? adaptStatement(connection.prepare(sql));
      if (prepared.size < statementsMax) prepared.set(sql, statement);
      return statement;
    },
    close: () => connection.close(),
  };
}

function adaptStatement(statement: StatementSync): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...(parameters as SQLInputValue[])),
    run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
    iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])),
  };
}
