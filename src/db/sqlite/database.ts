// SQLite behind the port. The connections share one file: with the write-ahead log a reader sees
// the last commit while a writer works.
import type { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import type { Database } from '../port.ts';
import { migrateToLatest } from '../migrate.ts';
import { migrations } from '../migrations/list.ts';
import type { Tables } from '../schema.ts';
import { connectSqlite } from './connection.ts';
import { explainSqliteError } from './error.ts';
import { NodeSqliteDialect } from './dialect.ts';

export function openSqlite(path: string): Database {
  // The writer comes first, because it creates the file for the reader.
  const writer = connectSqlite(path, { readOnly: false, failsWhenBusy: true });
  const transientWriter = connectSqlite(path, {
    readOnly: false,
    failsWhenBusy: true,
    skipsSync: true,
  });
  const reader = connectSqlite(path, { readOnly: true, failsWhenBusy: true });
  // SQLite's own changes the case of English letters only, and people search for names.
  reader.function('lower', { deterministic: true }, (text) =>
    typeof text === 'string' ? text.toLowerCase() : text,
  );
  const write = new Kysely<Tables>({ dialect: new NodeSqliteDialect(writer) });
  const transient = new Kysely<Tables>({ dialect: new NodeSqliteDialect(transientWriter) });
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
    pools: () => [],
    close: async () => {
      await Promise.all([read.destroy(), write.destroy(), transient.destroy()]);
      for (const connection of [reader, transientWriter, writer]) closeIfOpen(connection);
    },
  };
}

/** Kysely closes a connection only after using it. */
function closeIfOpen(connection: DatabaseSync): void {
  if (connection.isOpen) connection.close();
}
