// SQLite behind the port. Its connections share one file: the write-ahead log lets the reader see the last commit while a
// writer works.
import type { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import type { Database } from './database.ts';
import { migrateToLatest } from './migrate.ts';
import { migrations } from './migrations/list.ts';
import type { Tables } from './schema.ts';
import { connectSqlite } from './sqlite-connection.ts';
import { explainSqliteError } from './sqlite-error.ts';
import { NodeSqliteDialect } from './sqlite-dialect.ts';

export function openSqlite(path: string): Database {
  // The writer first: it makes the file that the reader then finds.
  const writer = connectSqlite(path, { readOnly: false, waitsItself: true });
  const noter = connectSqlite(path, { readOnly: false, waitsItself: true, skipsDisk: true });
  const reader = connectSqlite(path, { readOnly: true, waitsItself: true });
  const write = new Kysely<Tables>({ dialect: new NodeSqliteDialect(writer) });
  const transient = new Kysely<Tables>({ dialect: new NodeSqliteDialect(noter) });
  const read = new Kysely<Tables>({ dialect: new NodeSqliteDialect(reader) });
  return {
    url: `sqlite:${path}`,
    read,
    write,
    transient,
    migrate: async () => {
      try {
        return await migrateToLatest(write, migrations.sqlite);
      } catch (error) {
        throw explainSqliteError(error, path);
      }
    },
    close: async () => {
      await Promise.all([read.destroy(), write.destroy(), transient.destroy()]);
      for (const connection of [reader, noter, writer]) closeIfOpen(connection);
    },
  };
}

/** Kysely closes only a connection that it has used. */
function closeIfOpen(connection: DatabaseSync): void {
  if (connection.isOpen) connection.close();
}
