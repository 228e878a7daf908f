// One gateway serves a SQLite file: limits are counted in its memory, and a second one would allow as much again.
import { closeSync, openSync, realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { DatabaseUnusable } from './database-error.ts';
import { connectSqlite } from './sqlite-connection.ts';
import { explainSqliteError, isBusy } from './sqlite-error.ts';

/**
 * Claims the database at `path` for this process, until it ends, however it ends: the claim is a lock of the system on a file beside it, which
 * stays empty. Throws when another process has it. Returns what gives it up.
 */
export function claimServing(path: string): () => void {
  // Makes the folder, and says what is wrong with the database.
  connectSqlite(path, { readOnly: false }).close();
  try {
    // By whatever link it is reached.
    const file = `${realpathSync(path)}-serving`;
    closeSync(openSync(file, 'a', 0o600));
    const lock = new DatabaseSync(file);
    lock.exec('begin immediate');
    return () => lock.close();
  } catch (error) {
    if (!isBusy(error)) throw explainSqliteError(error, path);
    throw new DatabaseUnusable(
      `${servingProcess(path)} serves the database ${path} already, and only one gateway can. Stop that one first, or give this one a data folder of its own (TOLLGATE_DATA_DIR); several gateways share a PostgreSQL database.`,
    );
  }
}

/** By the leases of its holds: the newest. A gateway that is still starting has none yet. */
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
