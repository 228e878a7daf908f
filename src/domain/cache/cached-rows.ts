// The table of cached answers. The ledger writes it, in the transaction that charges an answer;
// this module reads and trims it.
import { setImmediate } from 'node:timers/promises';
import { type Selectable, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { CachedResponsesTable } from '../../db/schema.ts';
import { firstWithin } from '../../lib/first-within.ts';
import type { CacheName } from './cache-name.ts';

const read = [
  'content_type',
  'headers',
  'body',
  'expires_at_ms',
  'cost_micros',
  'input_tokens',
  'output_tokens',
] as const;
export type CachedRow = Pick<Selectable<CachedResponsesTable>, (typeof read)[number]>;

/** A row without its body, read from an index alone. */
type RowSize = Pick<
  Selectable<CachedResponsesTable>,
  'account_id' | 'digest' | 'expires_at_ms' | 'size_bytes'
>;
/** A position in age order. All rows are kept equally long, so the oldest expire first. */
type Age = Omit<RowSize, 'size_bytes'>;

/**
 * The most that one step removes, so that other writers never wait long: long bodies take long to
 * delete.
 */
const stepRows = 200;
const stepBytes = 4 * 1024 * 1024;
const pageRows = 1_000;

export async function findCached(
  database: Database,
  name: CacheName,
  nowMs: number,
): Promise<CachedRow | null> {
  const row = await database.read
    .selectFrom('cached_responses')
    .select(read)
    .where('account_id', '=', name.accountId)
    .where('digest', '=', name.digest)
    .where('generation', '=', name.generation)
    .where('expires_at_ms', '>', nowMs)
    .executeTakeFirst();
  return row ?? null;
}

export async function removeExpired(database: Database, nowMs: number): Promise<void> {
  const expired = rowSizes(database)
    .where('expires_at_ms', '<=', nowMs)
    .orderBy('expires_at_ms')
    .limit(stepRows);
  await removeInSteps(database, () => expired.execute());
}

/** Removes a row and all older ones. */
export async function removeOldest(
  database: Database,
  { expires_at_ms, account_id, digest }: Age,
): Promise<void> {
  const oldest = rowSizes(database)
    .where(
      sql<boolean>`(expires_at_ms, account_id, digest) <= (${expires_at_ms}, ${account_id}, ${digest})`,
    )
    .orderBy('expires_at_ms')
    .limit(stepRows);
  await removeInSteps(database, () => oldest.execute());
}

/** Removes an account's rows of lower generations. Returns how many were removed. */
export async function removeGenerationsBelow(
  database: Database,
  accountId: string,
  generation: number,
): Promise<number> {
  const outdated = rowSizes(database)
    .where('account_id', '=', accountId)
    .where('generation', '<', generation)
    .limit(stepRows);
  return removeInSteps(database, () => outdated.execute());
}

/** Yields pages from the newest row to the oldest. */
export async function* pagesFromNewest(database: Database): AsyncGenerator<readonly RowSize[]> {
  const newest = rowSizes(database)
    .orderBy('expires_at_ms', 'desc')
    .orderBy('account_id', 'desc')
    .orderBy('digest', 'desc')
    .limit(pageRows);
  let page = await newest.execute();
  for (let last = page.at(-1); last; last = page.at(-1)) {
    yield page;
    await setImmediate();
    const { expires_at_ms, account_id, digest } = last;
    page = await newest
      .where(
        sql<boolean>`(expires_at_ms, account_id, digest) < (${expires_at_ms}, ${account_id}, ${digest})`,
      )
      .execute();
  }
}

/** Returns the total size of rows that expire after a time, and the latest expiry. */
export async function measureSince(
  database: Database,
  expiresAfterMs: number,
): Promise<{ readonly bytes: number; readonly newestMs: number | null }> {
  return database.read
    .selectFrom('cached_responses')
    .select([
      sql<number>`cast(coalesce(sum(size_bytes), 0) as bigint)`.as('bytes'),
      ({ fn }) => fn.max('expires_at_ms').as('newestMs'),
    ])
    .where('expires_at_ms', '>', expiresAfterMs)
    .executeTakeFirstOrThrow();
}

function rowSizes(database: Database) {
  return database.read
    .selectFrom('cached_responses')
    .select(['account_id', 'digest', 'expires_at_ms', 'size_bytes']);
}

/**
 * Finds rows without the write lock and deletes them only if unchanged: a row that was replaced
 * since stays. Returns how many were removed.
 */
async function removeInSteps(database: Database, find: () => Promise<RowSize[]>): Promise<number> {
  let removed = 0;
  for (let rows = await find(); rows.length > 0; rows = await find()) {
    const seen = stepOf(rows).map(
      (row) => sql`(${row.account_id}, ${row.digest}, cast(${row.expires_at_ms} as bigint))`,
    );
    const statement = sql`delete from cached_responses where (account_id, digest, expires_at_ms) in (values ${sql.join(seen)})`;
    await statement.execute(database.transient);
    removed += seen.length;
    // SQLite runs on this thread: requests are served between the steps.
    await setImmediate();
  }
  return removed;
}

/** Sorted, so that two gateways at the same work lock rows in one order and do not deadlock. */
function stepOf(rows: readonly RowSize[]): RowSize[] {
  const step = firstWithin(rows, stepBytes, (row) => row.size_bytes);
  return step.toSorted((one, other) =>
    one.account_id + one.digest < other.account_id + other.digest ? -1 : 1,
  );
}
