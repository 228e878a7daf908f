// When keys were last used.
import type { Database } from '../db/database.ts';

/** Unix milliseconds by key, to within seconds, of any request that came with it; without those that were never used. */
export async function readKeyUses(database: Database, keyIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (keyIds.length === 0) return new Map();
  const rows = await database.read.selectFrom('key_uses').selectAll().where('key_id', 'in', keyIds).execute();
  return new Map(rows.map((row) => [row.key_id, row.last_used_at_ms]));
}
