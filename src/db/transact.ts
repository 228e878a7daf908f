// Runs work in its own transaction or in the caller's, so that a change can be committed together
// with its audit entry.
import type { Transaction } from 'kysely';
import type { Db, Tables } from './schema.ts';

/** When `write` is already a transaction, `work` joins it and is rolled back with it. */
export function transact<Result>(
  write: Db,
  work: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  return write.isTransaction
    ? work(write as Transaction<Tables>)
    : write.transaction().execute(work);
}
