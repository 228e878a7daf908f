// Why a SQLite file cannot be used, told so that the operator can act on it; and which failures pass by themselves.
import { DatabaseUnusable } from './database-error.ts';

/** Primary result codes. https://sqlite.org/rescode.html */
const codes = { perm: 3, busy: 5, readOnly: 8, io: 10, corrupt: 11, full: 13, cannotOpen: 14, notADatabase: 26 } as const;

/** The primary code of SQLite's error: the low byte of the extended one; null: it is none of SQLite's. */
export function sqliteCodeOf(error: unknown): number | null {
  const { errcode } = (error ?? {}) as { errcode?: unknown };
  return typeof errcode === 'number' ? errcode & 0xff : null;
}

/** Whether another connection writes. */
export function isBusy(error: unknown): boolean {
  return sqliteCodeOf(error) === codes.busy;
}

const awayCodes: readonly (number | null)[] = [codes.busy, codes.readOnly, codes.io, codes.full, codes.cannotOpen];

/** Whether the disk is full or fails, or another process keeps the file locked: the same may work in a while. */
export function isFileAway(error: unknown): boolean {
  return awayCodes.includes(sqliteCodeOf(error));
}

/** An error, or its cause, in words for the operator; one that is none of SQLite's stays as it is. */
export function explainSqliteError(error: unknown, path: string): unknown {
  if (error instanceof DatabaseUnusable) return error;
  const cause = sqliteCodeOf(error) === null && error instanceof Error ? error.cause : error;
  const told = tellReason(sqliteCodeOf(cause), path);
  return told === null ? error : new DatabaseUnusable(told, { cause: error });
}

function tellReason(code: number | null, path: string): string | null {
  switch (code) {
    case codes.notADatabase:
    case codes.corrupt:
      return `The database ${path} is damaged, or is no SQLite database. Move it and the files ${path}-wal and ${path}-shm away, and put a backup in its place: see "Restore" in docs/operations.md.`;
    case codes.cannotOpen:
    case codes.perm:
    case codes.readOnly:
      return `The database ${path} cannot be written. Check that this user may read and write the file and make files in its folder, and that the file system is not mounted read-only.`;
    // A full disk is also one on which the index of the log cannot grow, which SQLite calls an I/O error.
    case codes.full:
    case codes.io:
      return `The disk of the database ${path} is full or fails. Make room on it, or look for its faults in the system's log, and try again.`;
    case codes.busy:
      return `Another process keeps the database ${path} locked. End what holds it, a copy or a shell of sqlite3 perhaps, and try again.`;
    default:
      return null;
  }
}
