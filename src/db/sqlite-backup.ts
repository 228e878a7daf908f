// A copy of a SQLite database that is in use: one moment of it, whatever is written meanwhile.
import { closeSync, fsyncSync, linkSync, openSync, rmSync, statSync } from 'node:fs';
import { backup } from 'node:sqlite';
import { DatabaseUnusable } from './database-error.ts';
import { connectSqlite } from './sqlite-connection.ts';
import { explainSqliteError } from './sqlite-error.ts';

/** All pages in one step: between two steps a writer would make the copy begin anew, and under load it would never end. */
const pagesAtOnce = 2 ** 31 - 1;

/**
 * Copies the database at `path` into a new file, for its user alone, checked and on the disk when this resolves; returns its size in bytes.
 * Writers are not kept waiting. Throws when the file exists already, and leaves nothing behind when it fails.
 */
export async function backUpSqlite(path: string, target: string): Promise<number> {
  const draft = `${target}.${process.pid}.part`;
  const source = connectSqlite(path, { readOnly: true });
  try {
    closeSync(openSync(draft, 'wx', 0o600));
    await backup(source, draft, { rate: pagesAtOnce });
    checkCopy(draft);
    flush(draft);
    // Unlike a rename, a link never replaces what is there.
    linkSync(draft, target);
    return statSync(target).size;
  } catch (error) {
    throw explainSqliteError(error, draft);
  } finally {
    source.close();
    for (const suffix of ['', '-wal', '-shm']) rmSync(draft + suffix, { force: true });
  }
}

function checkCopy(path: string): void {
  const copy = connectSqlite(path, { readOnly: false });
  try {
    const problems = [...copy.prepare('pragma integrity_check').all(), ...copy.prepare('pragma foreign_key_check').all()];
    const first = Object.values(problems[0] ?? {})[0];
    if (problems.length !== 1 || first !== 'ok')
      throw new DatabaseUnusable(`The copy is damaged, and so may be the database: ${String(first)}`);
  } finally {
    copy.close();
  }
}

function flush(path: string): void {
  const file = openSync(path, 'r+');
  fsyncSync(file);
  closeSync(file);
}
