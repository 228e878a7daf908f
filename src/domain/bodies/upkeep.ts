// Removes kept bodies that are expired, erased, or beyond the budget of the disk.
import { sql } from 'kysely';
import { belowGeneration } from '../../db/below-generation.ts';
import type { Database } from '../../db/database.ts';
import { SizedRows } from '../../db/sized-rows.ts';
import { dayMs } from '../../lib/utc-time.ts';

type UpkeepOptions = {
  readonly database: Database;
  readonly daysMax: number;
  /** The budget of the table. */
  readonly diskBytes: number;
};

const keptBodies = { table: 'kept_bodies', name: 'request_id', time: 'created_at_ms' } as const;
/** The longest time from a row's timestamp to its commit, if the database works. */
const commitMs = 30_000;

export function bodyUpkeep({ database, daysMax, diskBytes }: UpkeepOptions) {
  const rows = new SizedRows(database, keptBodies);
  return async (nowMs: number): Promise<void> => {
    await rows.remove(sql`expires_at_ms <= ${nowMs}`);
    // The operator may have lowered the most days.
    await rows.remove(sql`created_at_ms <= ${nowMs - daysMax * dayMs}`);
    // Rows that were stored during an erasure, or left over from an interrupted one.
    await rows.remove(sql`(account_id, request_id) in (
      select kept_bodies.account_id, request_id from accounts
      join kept_bodies on kept_bodies.account_id = accounts.id and generation < ${belowGeneration}
      where (cache_generation > 0 or retain_responses = 0) limit 200)`);
    await rows.keepWithin({ diskBytes, commitMs }, nowMs);
  };
}

/** Removes an account's bodies from before its answers were erased. Returns how many requests had some. */
export function removeErasedOf(database: Database, accountId: string): Promise<number> {
  return new SizedRows(database, keptBodies).removeErasedOf(accountId);
}
