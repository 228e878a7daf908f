// Opens a SQLite file with Tollgate's settings: write-ahead log, and every commit on disk before it
// is acknowledged. The settings are read back and compared, because SQLite silently ignores pragmas
// that it cannot apply.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, linkSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describeFolderFault } from '../../lib/folder-fault.ts';
import { DatabaseUnusable } from '../database-error.ts';
import { explainSqliteError } from './error.ts';

/** Older versions can corrupt a write-ahead log that two connections reset at the same time. */
const versionMinimum = '3.51.3';

/** How long a writer waits for another process by default. */
export const busyTimeoutMs = 5_000;

type SqliteOptions = {
  readonly readOnly: boolean;
  readonly busyTimeoutMs?: number;
  /**
   * Fails immediately with SQLITE_BUSY while another connection writes. By default SQLite blocks
   * the thread for up to `busyTimeoutMs`.
   */
  readonly failsWhenBusy?: boolean;
  /**
   * Commits do not wait for the disk. A power cut can undo them until another connection's commit
   * has reached the disk.
   */
  readonly skipsSync?: boolean;
};

/**
 * Opens a connection. A writer creates the file and its folder if they are missing, for its user
 * only. Throws when Node's SQLite is too old, the file system cannot hold a write-ahead log, or the
 * file is not a database.
 */
export function connectSqlite(path: string, options: SqliteOptions): DatabaseSync {
  try {
    if (!options.readOnly) ensureFile(path);
    return connect(path, options);
  } catch (error) {
    throw explainFolderError(error, path) ?? explainSqliteError(error, path);
  }
}

function explainFolderError(error: unknown, path: string): DatabaseUnusable | null {
  const problem = describeFolderFault(error, dirname(path));
  return problem === null
    ? null
    : new DatabaseUnusable(
        `The database ${path} cannot be opened: ${problem}. Correct that, or set TOLLGATE_DATA_DIR (or DATABASE_URL, if it names this file) to another place.`,
        { cause: error },
      );
}

/**
 * SQLite treats an empty file as a new database. Tollgate's file is never empty, even while it is
 * created, so an empty one has lost its data.
 */
function ensureFile(path: string): void {
  if (!existsSync(path)) makeFile(path);
  if (statSync(path).size > 0) return;
  throw new DatabaseUnusable(
    `The database ${path} is an empty file: its content is lost. Put a backup in its place (see "Restore" in docs/operations.md); for a new installation, remove the file.`,
  );
}

/**
 * Creates the file under another name and links it, so that concurrent creators open the same file.
 * SQLite gives the files beside it the same permissions.
 */
function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    closeSync(openSync(draft, 'wx', 0o600));
    connect(draft, { readOnly: false }).close();
    linkSync(draft, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(draft + suffix, { force: true });
  }
}

function connect(path: string, options: SqliteOptions): DatabaseSync {
  const connection = new DatabaseSync(path, {
    readOnly: options.readOnly,
    timeout: options.busyTimeoutMs ?? busyTimeoutMs,
  });
  try {
    configure(connection, options);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function configure(
  connection: DatabaseSync,
  { readOnly, skipsSync, ...options }: SqliteOptions,
): void {
  assertVersion(connection);
  if (!readOnly) setPragma(connection, 'journal_mode', 'wal');
  setPragma(connection, 'synchronous', skipsSync ? 1 : 2); // FULL: an acknowledged charge survives a power cut.
  setPragma(connection, 'foreign_keys', 1);
  setPragma(connection, 'recursive_triggers', 1); // Otherwise INSERT OR REPLACE deletes past the append-only triggers.
  setPragma(
    connection,
    'busy_timeout',
    options.failsWhenBusy ? 0 : (options.busyTimeoutMs ?? busyTimeoutMs),
  );
}

function assertVersion(connection: DatabaseSync): void {
  const { version } = connection.prepare('select sqlite_version() as version').get() as {
    version: string;
  };
  assert.ok(
    sortable(version) >= sortable(versionMinimum),
    `Tollgate needs SQLite ${versionMinimum} or newer; this Node.js has ${version}`,
  );
}

/** Not `localeCompare`: to compare by language, Node reads 3 MB of data. */
function sortable(version: string): string {
  return version.replace(/\d+/g, (part) => part.padStart(4, '0'));
}

function setPragma(connection: DatabaseSync, name: string, value: string | number): void {
  connection.exec(`pragma ${name} = ${value}`);
  const actual = readPragma(connection, name);
  assert.equal(
    actual,
    value,
    `SQLite did not accept "pragma ${name} = ${value}"; it reports ${String(actual)}`,
  );
}

function readPragma(connection: DatabaseSync, name: string): unknown {
  return Object.values(connection.prepare(`pragma ${name}`).get() ?? {})[0];
}
