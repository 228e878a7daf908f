// Backs up a SQLite database in use, as one snapshot, and finds damage in a file.
import { closeSync, fsyncSync, linkSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup } from 'node:sqlite';
import { describeFolderFault } from '../../lib/folder-fault.ts';
import { DatabaseUnusable } from '../database-error.ts';
import { connectSqlite } from './connection.ts';
import { explainSqliteError } from './error.ts';

/**
 * Copies all pages in one step. Between two steps a writer would restart the copy, and under load
 * it would never finish.
 */
const pagesAtOnce = 2 ** 31 - 1;

/**
 * Copies the database at `path` into a new file, readable by its user only, verified and flushed to
 * disk. Returns its size in bytes. Does not block writers. Throws when the target exists, and
 * leaves nothing behind when it fails.
 */
export async function backUpSqlite(path: string, target: string): Promise<number> {
  const draft = `${target}.${process.pid}.part`;
  const source = connectSqlite(path, { readOnly: true });
  try {
    makeDraft(draft);
    await backup(source, draft, { rate: pagesAtOnce });
    checkCopy(draft);
    flush(draft);
    // Unlike a rename, a link never replaces an existing file.
    linkSync(draft, target);
    return statSync(target).size;
  } catch (error) {
    throw explainSqliteError(error, draft);
  } finally {
    source.close();
    for (const suffix of ['', '-wal', '-shm']) rmSync(draft + suffix, { force: true });
  }
}

function makeDraft(draft: string): void {
  try {
    closeSync(openSync(draft, 'wx', 0o600));
  } catch (error) {
    const problem = describeFolderFault(error, dirname(draft));
    if (problem === null) throw error;
    throw new DatabaseUnusable(
      `The backup cannot be written: ${problem}. Name a file in a folder that exists and that this user can write in.`,
      { cause: error },
    );
  }
}

function checkCopy(path: string): void {
  const damage = findDamage(path, { readOnly: false });
  if (damage !== null)
    throw new DatabaseUnusable(`The copy is damaged, and the database may be too: ${damage}`);
}

/** Reads all tables and indexes. Returns the first damage in SQLite's words; null: there is none. */
export function findDamage(path: string, { readOnly = true } = {}): string | null {
  const connection = connectSqlite(path, { readOnly });
  const first = (check: string) => Object.values(connection.prepare(`pragma ${check}`).get() ?? {});
  try {
    const [found] = first('integrity_check(1)');
    if (found !== 'ok') return String(found);
    const [table] = first('foreign_key_check');
    return table === undefined ? null : `a row of ${String(table)} refers to a missing row`;
  } catch (error) {
    throw explainSqliteError(error, path);
  } finally {
    connection.close();
  }
}

function flush(path: string): void {
  const file = openSync(path, 'r+');
  fsyncSync(file);
  closeSync(file);
}
