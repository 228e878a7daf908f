// Kysely on PostgreSQL, with one addition that the port promises: a read-only transaction sees one
// snapshot.
import {
  type DatabaseConnection,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresDriver,
  PostgresQueryCompiler,
  type TransactionSettings,
} from 'kysely';
import { checkTextValue } from './text-values.ts';

export class SnapshotPostgresDialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig;

  constructor(config: PostgresDialectConfig) {
    super(config);
    this.#config = config;
  }

  override createDriver(): PostgresDriver {
    return new SnapshotDriver(this.#config);
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
    await super.beginTransaction(
      connection,
      isSnapshot ? { ...settings, isolationLevel: 'repeatable read' } : settings,
    );
  }
}
