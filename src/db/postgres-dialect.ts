// Kysely on PostgreSQL, with the one promise of the port that its own dialect does not make: a read-only transaction sees one moment.
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
  /** PostgreSQL's default shows each statement what others committed meanwhile; a snapshot is what SQLite gives every transaction. */
  override async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const isSnapshot = settings.accessMode === 'read only' && settings.isolationLevel === undefined;
    await super.beginTransaction(connection, isSnapshot ? { ...settings, isolationLevel: 'repeatable read' } : settings);
  }
}
