// An index of the entries with a loss, by time: the operator's home sums them for any range of days.
// Few entries have one, so the index is small.
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const columns = 'entries_losses on entries (created_at_ms) where loss_micros > 0';

export const lossIndex: Migration = {
  up: async (db) => run(db, `create index ${columns}`),
};

/** Runs outside a transaction. */
export const lossIndexOnPostgres: Migration = {
  up: async (db) => {
    // An interrupted run leaves an index that is not valid.
    await run(db, 'drop index concurrently if exists entries_losses');
    await run(db, `create index concurrently ${columns}`);
  },
};

async function run(db: Kysely<unknown>, statement: string): Promise<void> {
  await sql.raw(statement).execute(db);
}
