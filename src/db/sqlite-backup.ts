// Backs up a SQLite database in use: the copy is one snapshot.
import { closeSync, fsyncSync, linkSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup } from 'node:sqlite';
import { describeFolderFault } from '../lib/folder-fault.ts';
import { DatabaseUnusable } from './database-error.ts';
import { connectSqlite } from './sqlite-connection.ts';
import { explainSqliteError } from './sqlite-error.ts';

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
  const copy = connectSqlite(path, { readOnly: false });
  try {
    const problems = [
      ...copy.prepare('pragma integrity_check').all(),
      ...copy.prepare('pragma foreign_key_check').all(),
    ];
    const first = Object.values(problems[0] ?? {})[0];
    if (problems.length !== 1 || first !== 'ok')
      throw new DatabaseUnusable(
        `The copy is damaged, and the database may be too: ${String(first)}`,
      );
  } finally {
    copy.close();
  }
}

function flush(path: string): void {
  const file = openSync(path, 'r+');
  fsyncSync(file);
  closeSync(file);
}
