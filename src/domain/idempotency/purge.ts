// Removes the bodies of answers under Idempotency-Keys, after a purge or when an account stops
// storing answers.
import { sql } from 'kysely';
import { belowGeneration, outdatedOf } from '../../db/below-generation.ts';
import type { Database } from '../../db/database.ts';
import type { Db } from '../../db/schema.ts';
import { firstWithin } from '../../lib/first-within.ts';

/**
 * Deletes the bodies of an account's stored answers. The rows stay, so that no request runs twice.
 * Returns how many bodies were deleted.
 */
export async function dropBodies(database: Database, accountId: string): Promise<number> {
  const keys = await database.read
    .selectFrom('api_keys')
    .select('id')
    .where('account_id', '=', accountId)
    .execute();
  let dropped = 0;
  for (const { id } of keys) dropped += await dropBodiesOfKey(database, id);
  return dropped;
}

async function dropBodiesOfKey(database: Database, keyId: string): Promise<number> {
  let dropped = 0;
  let rows = await findBodies(database.read, keyId, '');
  while (rows.length > 0) {
    const digests = firstWithin(rows, stepBytes, ({ bytes }) => bytes).map((row) => row.key_digest);
    await database.write
      .updateTable('idempotent_responses')
      .set({ body: null })
      .where('key_id', '=', keyId)
      .where('key_digest', 'in', digests)
      .execute();
    dropped += digests.length;
    rows = await findBodies(database.read, keyId, digests.at(-1)!);
  }
  return dropped;
}

/** The most that one step frees, so that other writers never wait long. */
const stepRows = 200;
const stepBytes = 4 * 1024 * 1024;

function findBodies(read: Db, keyId: string, afterDigest: string) {
  return read
    .selectFrom('idempotent_responses')
    .select(['key_digest', sql<number>`length(body)`.as('bytes')])
    .where('key_id', '=', keyId)
    .where('key_digest', '>', afterDigest)
    .where('body', 'is not', null)
    .orderBy('key_digest')
    .limit(stepRows)
    .execute();
}

/**
 * Takes generations by key; returns the keys whose account has a newer generation or no longer
 * stores answers.
 */
export function findPurgedKeys(
  read: Db,
  generations: ReadonlyMap<string, number>,
): Promise<string[]> {
  return outdatedOf(generations, (ids) =>
    read
      .selectFrom('api_keys')
      .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
      .select(['api_keys.id', belowGeneration.as('from_generation')])
      .where('api_keys.id', 'in', ids)
      .execute(),
  );
}
