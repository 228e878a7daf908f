// Kysely on PostgreSQL, with the one promise of the port that its own dialect does not make: a read-only transaction sees one moment.
import {
  type DatabaseConnection,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresDriver,
  type TransactionSettings,
} from 'kysely';

export class SnapshotPostgresDialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig;

  constructor(config: PostgresDialectConfig) {
    super(config);
    this.#config = config;
  }

  override createDriver(): PostgresDriver {
    return new SnapshotDriver(this.#config);
  }
}

class SnapshotDriver extends PostgresDriver {
  /** PostgreSQL's default shows each statement what others committed meanwhile; a snapshot is what SQLite gives every transaction. */
  override async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const isSnapshot = settings.accessMode === 'read only' && settings.isolationLevel === undefined;
    await super.beginTransaction(connection, isSnapshot ? { ...settings, isolationLevel: 'repeatable read' } : settings);
  }
}
