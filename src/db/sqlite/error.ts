// SQLite errors in the operator's words, and which of them are transient.
import { closeSync, openSync, rmSync } from 'node:fs';
import { DatabaseUnusable } from '../database-error.ts';

/** Primary result codes. https://sqlite.org/rescode.html */
const codes = {
  perm: 3,
  busy: 5,
  readOnly: 8,
  io: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
} as const;

/**
 * Returns SQLite's primary result code, the low byte of the extended one; null for other errors.
 */
export function sqliteCodeOf(error: unknown): number | null {
  const { errcode } = (error ?? {}) as { errcode?: unknown };
  return typeof errcode === 'number' ? errcode & 0xff : null;
}

/**
 * Extended codes of failures after the commit was written to the log: the log was not flushed, or
 * its index did not grow.
 */
const codesAfterWrite: readonly unknown[] = [1034, 4874, 5386];

/**
 * Returns true when a failed commit may still be in the file. The next commit overwrites it; a
 * restart before that recovers it.
 */
export function mayBeCommitted(error: unknown): boolean {
  return codesAfterWrite.includes((error as { errcode?: unknown } | null)?.errcode);
}

/** Returns true when another connection is writing. */
export function isBusy(error: unknown): boolean {
  return sqliteCodeOf(error) === codes.busy;
}

const unavailableCodes: readonly (number | null)[] = [
  codes.busy,
  codes.readOnly,
  codes.io,
  codes.full,
  codes.cannotOpen,
];

/**
 * Returns true when the disk is full or failing, or another process holds the lock: a retry may
 * succeed later.
 */
export function isFileUnavailable(error: unknown): boolean {
  return unavailableCodes.includes(sqliteCodeOf(error));
}

/**
 * Returns a SQLite error, or a wrapped one, in the operator's words; any other error is returned
 * unchanged.
 */
export function explainSqliteError(error: unknown, path: string): unknown {
  if (error instanceof DatabaseUnusable) return error;
  const cause = sqliteCodeOf(error) === null && error instanceof Error ? error.cause : error;
  const reason = describeReason(sqliteCodeOf(cause), path);
  return reason === null ? error : new DatabaseUnusable(reason, { cause: error });
}

/**
 * Explains to the operator why a database in use cannot be written, when SQLite's own message is
 * not enough.
 */
export function explainWriteFailure(error: Error, path: string): string {
  const code = sqliteCodeOf(error);
  if ((code !== codes.io && code !== codes.readOnly) || !isFileSystemReadOnly(path))
    return error.message;
  return `${error.message}: the file system of ${path} is read-only. Look for the reason in the system log. If it cannot be remounted under a running process (ext4 after an error), stop the gateway, check the file system, remount it and start the gateway again.`;
}

function isFileSystemReadOnly(path: string): boolean {
  const probe = `${path}-probe`;
  try {
    closeSync(openSync(probe, 'w', 0o600));
    rmSync(probe);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS';
  }
}

function describeReason(code: number | null, path: string): string | null {
  switch (code) {
    case codes.notADatabase:
    case codes.corrupt:
      return `The database ${path} is damaged or not a SQLite database. Move it, ${path}-wal and ${path}-shm away and restore a backup: see "Restore" in docs/operations.md.`;
    case codes.cannotOpen:
    case codes.perm:
    case codes.readOnly:
      return `The database ${path} cannot be written. Check that this user may read and write the file and create files in its folder, and that the file system is not mounted read-only.`;
    // SQLite reports an I/O error when the disk is too full for the log's index to grow.
    case codes.full:
    case codes.io:
      return `The disk of the database ${path} is full or failing. Free space on it, or check the system log for disk errors, and try again.`;
    case codes.busy:
      return `Another process has locked the database ${path}. End that process (a backup or a sqlite3 shell, for example) and try again.`;
    default:
      return null;
  }
}
