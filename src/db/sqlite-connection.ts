// Opens a SQLite file the one way that Tollgate uses it: write-ahead log, every commit on the disk before it is answered.
// The settings are read back and compared, because SQLite accepts a pragma that it then ignores.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, linkSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DatabaseUnusable } from './database-error.ts';
import { explainSqliteError } from './sqlite-error.ts';

/** Older versions can corrupt a write-ahead log that two connections reset at the same moment. */
const versionMinimum = '3.51.3';

/** How long a writer waits for another process to finish, unless told otherwise. */
export const busyTimeoutMs = 5_000;

export type SqliteOptions = {
  readonly readOnly: boolean;
  readonly busyTimeoutMs?: number;
  /** Fails at once with SQLITE_BUSY while another writes. Otherwise SQLite waits for `busyTimeoutMs`, and the thread with it. */
  readonly waitsItself?: boolean;
  /** Commits are not waited for: a power cut may undo them, until another connection's commit has reached the disk. */
  readonly skipsDisk?: boolean;
};

/**
 * Opens a connection. A writer makes the file and its folder (for their user alone) if they are missing.
 * Throws when the SQLite in this Node is too old, the file system cannot hold a write-ahead log, or the file is no database.
 */
export function connectSqlite(path: string, options: SqliteOptions): DatabaseSync {
  try {
    if (!options.readOnly) ensureFile(path);
    return connect(path, options);
  } catch (error) {
    throw explainSqliteError(error, path);
  }
}

/** SQLite takes an empty file for a new database. Ours has its first page before it has its name: an empty one has lost its books. */
function ensureFile(path: string): void {
  if (!existsSync(path)) makeFile(path);
  if (statSync(path).size > 0) return;
  throw new DatabaseUnusable(
    `The database ${path} is an empty file: what was in it is lost. Put a backup in its place (see "Restore" in docs/operations.md); for a new installation, remove the file.`,
  );
}

/** Made aside and linked: of two that make it at once, both open the same. SQLite gives the log and the index beside a file its rights. */
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
  const connection = new DatabaseSync(path, { readOnly: options.readOnly, timeout: options.busyTimeoutMs ?? busyTimeoutMs });
  try {
    configure(connection, options);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function configure(connection: DatabaseSync, { readOnly, skipsDisk, ...options }: SqliteOptions): void {
  assertVersion(connection);
  if (!readOnly) setPragma(connection, 'journal_mode', 'wal');
  setPragma(connection, 'synchronous', skipsDisk ? 1 : 2); // FULL: a charge that was answered survives a power cut.
  setPragma(connection, 'foreign_keys', 1);
  setPragma(connection, 'recursive_triggers', 1); // Otherwise INSERT OR REPLACE deletes past the append-only triggers.
  setPragma(connection, 'busy_timeout', options.waitsItself ? 0 : (options.busyTimeoutMs ?? busyTimeoutMs));
}

function assertVersion(connection: DatabaseSync): void {
  const { version } = connection.prepare('select sqlite_version() as version').get() as { version: string };
  const isNewEnough = version.localeCompare(versionMinimum, 'en', { numeric: true }) >= 0;
  assert.ok(isNewEnough, `Tollgate needs SQLite ${versionMinimum} or newer; this Node.js brings ${version}`);
}

function setPragma(connection: DatabaseSync, name: string, value: string | number): void {
  connection.exec(`pragma ${name} = ${value}`);
  const actual = readPragma(connection, name);
  assert.equal(actual, value, `SQLite did not accept "pragma ${name} = ${value}"; it says ${String(actual)}`);
}

function readPragma(connection: DatabaseSync, name: string): unknown {
  return Object.values(connection.prepare(`pragma ${name}`).get() ?? {})[0];
}
