// Opens a SQLite file the one way that Tollgate uses it: write-ahead log, every commit on the disk before it is answered.
// The settings are read back and compared, because SQLite accepts a pragma that it then ignores.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Older versions can corrupt a write-ahead log that two connections reset at the same moment. */
const versionMinimum = '3.51.3';

/** How long a writer waits for another process to finish. */
export const busyTimeoutMs = 5_000;

export type SqliteOptions = {
  readonly readOnly: boolean;
  /** Fails at once with SQLITE_BUSY while another writes. Otherwise SQLite waits for `busyTimeoutMs`, and the thread with it. */
  readonly waitsItself?: boolean;
  /** Commits are not waited for: a power cut may undo them, until another connection's commit has reached the disk. */
  readonly skipsDisk?: boolean;
};

/**
 * Opens a connection. A writer makes the file and its folder (readable by its user only) if they are missing.
 * Throws when the SQLite in this Node is too old or the file system cannot hold a write-ahead log.
 */
export function connectSqlite(path: string, options: SqliteOptions): DatabaseSync {
  if (!options.readOnly) mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const connection = new DatabaseSync(path, { readOnly: options.readOnly, timeout: busyTimeoutMs });
  try {
    configure(connection, options);
    if (options.waitsItself) setPragma(connection, 'busy_timeout', 0);
    if (options.skipsDisk) setPragma(connection, 'synchronous', 1);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function configure(connection: DatabaseSync, { readOnly }: SqliteOptions): void {
  assertVersion(connection);
  if (!readOnly) setPragma(connection, 'journal_mode', 'wal');
  setPragma(connection, 'synchronous', 2); // FULL: a charge that was answered survives a power cut.
  setPragma(connection, 'foreign_keys', 1);
  setPragma(connection, 'recursive_triggers', 1); // Otherwise INSERT OR REPLACE deletes past the append-only triggers.
  setPragma(connection, 'busy_timeout', busyTimeoutMs);
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
