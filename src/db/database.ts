// Opens the database of a URL, on either store.
import { openPostgres } from './postgres/database.ts';
import { explainSqliteError } from './sqlite/error.ts';
import { openSqlite } from './sqlite/database.ts';
import type { Database, DatabaseOptions } from './port.ts';

export type { Database };

/**
 * Opens the database of a URL. A SQLite file is created if it is missing. A PostgreSQL database
 * must exist, and is first contacted by `migrate()`, which creates the tables. Throws when the URL
 * is not understood or the database cannot be used safely.
 *
 * Examples: `openDatabase('sqlite:/var/lib/tollgate/tollgate.db')`,
 * `openDatabase('postgres://tollgate:secret@db.internal/tollgate')`.
 */
export function openDatabase(url: string, options: DatabaseOptions = {}): Database {
  return isPostgresUrl(url) ? openPostgres(url, options) : openSqlite(sqlitePathOf(url));
}

/** Returns true for a database that several machines can share. */
export function isPostgresUrl(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url);
}

/** Returns a SQLite error in the operator's words; any other error is returned unchanged. */
export function explainDatabaseError(error: unknown, url: string): unknown {
  return isPostgresUrl(url) ? error : explainSqliteError(error, sqlitePathOf(url));
}

/**
 * Returns the file of a `sqlite:` URL. Throws on any other URL, with a message for the operator.
 */
export function sqlitePathOf(url: string): string {
  const path = /^sqlite:(.+)$/.exec(url)?.[1];
  // The connections that read, administer and charge cannot share a database in memory.
  if (!path || path === ':memory:') {
    throw new Error(
      'database.url must be like "sqlite:/path/to/tollgate.db" or "postgres://user:password@host/database"',
    );
  }
  return path;
}
