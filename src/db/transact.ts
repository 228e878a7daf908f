// A transaction of its own, or the caller's: so a change is made alone, or in one transaction with what is noted of it.
import type { Transaction } from 'kysely';
import type { Database } from './database.ts';
import type { Tables } from './schema.ts';

/** `write` may be a transaction already: then `work` is a part of it, and what fails is undone with the rest of it. */
export function transact<Result>(
  { write }: Pick<Database, 'write'>,
  work: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  return write.isTransaction ? work(write as Transaction<Tables>) : write.transaction().execute(work);
}
