// The table of cached answers. It is written by the ledger, in the transaction that charges an answer; here it is read and cleared.
import { setImmediate } from 'node:timers/promises';
import { type Kysely, type Selectable, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { CachedResponsesTable, Tables } from '../db/schema.ts';
import type { CacheName } from './cache-name.ts';

export type CachedRow = Pick<Selectable<CachedResponsesTable>, 'content_type' | 'headers' | 'body' | 'expires_at_ms'>;
/** A row as it was seen; one that has taken its place since is another. */
type SeenRow = Pick<Selectable<CachedResponsesTable>, 'account_id' | 'digest' | 'created_at_ms' | 'size_bytes'>;

/** What one step removes at most, so that others never wait long behind it: long bodies are long to delete. */
const stepRows = 200;
const stepBytes = 4 * 1024 * 1024;

export async function findCached(database: Database, name: CacheName, nowMs: number): Promise<CachedRow | null> {
  const row = await database.read
    .selectFrom('cached_responses')
    .select(['content_type', 'headers', 'body', 'expires_at_ms'])
    .where('account_id', '=', name.accountId)
    .where('digest', '=', name.digest)
    .where('generation', '=', name.generation)
    .where('expires_at_ms', '>', nowMs)
    .executeTakeFirst();
  return row ?? null;
}

/** Removes what an account had cached under generations below this one. */
export async function removeOlderGenerations(database: Database, accountId: string, generation: number): Promise<void> {
  await removeInSteps(database.transient, () =>
    seenRows(database).where('account_id', '=', accountId).where('generation', '<', generation).limit(stepRows).execute(),
  );
}

export async function removeExpired(database: Database, nowMs: number): Promise<void> {
  await removeInSteps(database.transient, () => removable(database, nowMs));
}

/** Those that expire by then, the oldest first. */
function removable(database: Database, untilMs: number): Promise<SeenRow[]> {
  return seenRows(database).where('expires_at_ms', '<=', untilMs).orderBy('expires_at_ms').limit(stepRows).execute();
}

function seenRows(database: Database) {
  return database.read.selectFrom('cached_responses').select(['account_id', 'digest', 'created_at_ms', 'size_bytes']);
}

/** Rows are looked for without the write lock. */
async function removeInSteps(writer: Kysely<Tables>, find: () => Promise<SeenRow[]>): Promise<void> {
  for (let rows = await find(); rows.length > 0; rows = await find()) {
    await removeRows(writer, firstOf(rows));
    // SQLite answers without leaving this thread: requests get their turn in between.
    await setImmediate();
  }
}

function firstOf(rows: readonly SeenRow[]): readonly SeenRow[] {
  let bytes = 0;
  const end = rows.findIndex(({ size_bytes: sizeBytes }) => (bytes += sizeBytes) > stepBytes);
  return end === -1 ? rows : rows.slice(0, end + 1);
}

async function removeRows(writer: Kysely<Tables>, rows: readonly SeenRow[]): Promise<void> {
  const seen = rows.map((row) => sql`(${row.account_id}, ${row.digest}, cast(${row.created_at_ms} as bigint))`);
  await sql`delete from cached_responses where (account_id, digest, created_at_ms) in (values ${sql.join(seen)})`.execute(writer);
}
