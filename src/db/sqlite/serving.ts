// Ensures that one gateway serves a SQLite file: limits are counted in memory, so a second gateway
// would double them.
import { closeSync, openSync, realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { DatabaseUnusable } from '../database-error.ts';
import { connectSqlite } from './connection.ts';
import { explainSqliteError, isBusy } from './error.ts';

/**
 * Claims the database at `path` until this process ends, for any reason: the claim is a system lock
 * on an empty file beside it. Throws when another process holds it. Returns a function that
 * releases it.
 */
export function claimServing(path: string): () => void {
  // Creates the folder, and reports a database that cannot be used.
  connectSqlite(path, { readOnly: false }).close();
  try {
    // The real path, so that links to one file share the claim.
    const file = `${realpathSync(path)}-serving`;
    closeSync(openSync(file, 'a', 0o600));
    const lock = new DatabaseSync(file);
    lock.exec('begin immediate');
    return () => lock.close();
  } catch (error) {
    if (!isBusy(error)) throw explainSqliteError(error, path);
    throw new DatabaseUnusable(
      `${servingProcess(path)} already serves the database ${path}, and only one gateway can. Stop that one, or give this one its own data folder (TOLLGATE_DATA_DIR). Several gateways can share a PostgreSQL database.`,
    );
  }
}

/** Reads the newest lease. A gateway that is still starting has none yet. */
function servingProcess(path: string): string {
  const connection = connectSqlite(path, { readOnly: true });
  try {
    const newest = 'select host, pid from hold_owners order by process_started_at_ms desc limit 1';
    const { host, pid } = connection.prepare(newest).get() as { host: string; pid: number };
    return `The process ${pid}${host === hostname() ? '' : ` on ${host}`}`;
  } catch {
    return 'Another process';
  } finally {
    connection.close();
  }
}
