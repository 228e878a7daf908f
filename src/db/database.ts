// The port: what a database offers to the rest of Tollgate. Several Kysely instances, because on SQLite a reader must not wait
// behind the writer's transaction, nor a note of the moment for the disk. Charged requests never write through here: the ledger has its own writer (see ledger/open-ledger.ts).
import type { Kysely } from 'kysely';
import { openPostgres } from './postgres.ts';
import { explainSqliteError } from './sqlite-error.ts';
import { openSqlite } from './sqlite.ts';
import type { Tables } from './schema.ts';

export type Database = {
  /** As it was opened, for the ledger, which opens its own connection. */
  readonly url: string;
  /** For queries. Consistent over several statements inside `transaction().setAccessMode('read only')`. */
  readonly read: Kysely<Tables>;
  /** For accounts and keys: short transactions with no waiting for anything else inside, since they hold up the ledger's writer. */
  readonly write: Kysely<Tables>;
  /**
   * For rows that are of no use after a power cut, such as who runs what at the moment: commits do not wait for the disk. They are not
   * lost while the machine lives, nor once a later commit of another connection has waited.
   */
  readonly transient: Kysely<Tables>;
  /** Brings the tables up to date, all or nothing; returns the names of the migrations that ran. Safe to run in many processes. */
  readonly migrate: () => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
};

/**
 * Opens the database that a URL names. A SQLite file is made if there is none; a PostgreSQL database must exist, and is first spoken to
 * by `migrate()`, which makes the tables. Throws when the URL is not understood or the database cannot be used safely.
 * `isPatient`: queries may take any time, for commands that read all of the books.
 * Examples: `openDatabase('sqlite:/var/lib/tollgate/tollgate.db')`, `openDatabase('postgres://tollgate:secret@db.internal/tollgate')`.
 */
export function openDatabase(url: string, options: { readonly isPatient?: boolean } = {}): Database {
  return isPostgresUrl(url) ? openPostgres(url, options) : openSqlite(sqlitePathOf(url));
}

/** Whether a URL names a database that several machines may share. */
export function isPostgresUrl(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url);
}

/** An error of a SQLite file in use, in words for the operator; any other stays as it is. */
export function explainDatabaseError(error: unknown, url: string): unknown {
  return isPostgresUrl(url) ? error : explainSqliteError(error, sqlitePathOf(url));
}

/** The file of a `sqlite:` URL. Throws on any other: the message is meant for the operator. */
export function sqlitePathOf(url: string): string {
  const path = /^sqlite:(.+)$/.exec(url)?.[1];
  // A database in memory cannot be shared by the connections that read, administer and charge.
  if (!path || path === ':memory:') {
    throw new Error('database.url must be like "sqlite:/path/to/tollgate.db" or "postgres://user:password@host/database"');
  }
  return path;
}
