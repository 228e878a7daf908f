// Locks the ledger's tables for a migration on PostgreSQL beside gateways that charge. Batches lock
// rows of `ledgers` first, so that table comes first here too: any other order deadlocks.

import { type Kysely, sql } from 'kysely';
import { systemClock } from '../../lib/clock.ts';

/** Requests wait this long at most for a lock that is not granted; then they run, and it is tried again. */
const lockTimeoutMs = 500;
const pauseMs = 250;
const attemptsMax = 2_000;
const lockNotAvailable = '55P03';

/** Throws when the tables could not be locked within some 25 minutes. */
export async function lockLedgerTables(db: Kysely<unknown>): Promise<void> {
  const run = (statement: string) => sql.raw(statement).execute(db);
  for (let attempt = 1; ; attempt++) {
    await run('savepoint locks');
    try {
      await run(`set local lock_timeout = ${lockTimeoutMs}`);
      await run('lock table ledgers in exclusive mode');
      await run('lock table charges, entries in access exclusive mode');
      await run('set local lock_timeout = 0');
      await run('release savepoint locks');
      return;
    } catch (error) {
      await run('rollback to savepoint locks');
      if ((error as { code?: unknown }).code !== lockNotAvailable || attempt === attemptsMax)
        throw error;
      await systemClock.sleep(pauseMs);
    }
  }
}
