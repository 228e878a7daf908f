// Which of the installation's secrets the books need. Each that was the current one is noted, until the operator ends it: so a start without
// it, on a backup for example, is told which one is missing, instead of finding every key unknown.
import type { Kysely } from 'kysely';
import { DatabaseUnusable } from '../db/database-error.ts';
import type { Database } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import type { Secrets } from '../lib/secrets.ts';

export type NotedSecret = {
  /** Its key id. */
  readonly id: string;
  /** When a gateway first started with it as the current one. */
  readonly currentSinceMs: number;
};

/** Throws when a secret that the books need is not among those given. */
export async function requireSecrets(database: Database, secrets: Secrets): Promise<void> {
  const given = secrets.map(({ id }) => id);
  const missing = (await readNotedSecrets(database.read)).map(({ id }) => id).filter((id) => !given.includes(id));
  if (missing.length === 0) return;
  throw new DatabaseUnusable(
    `These books need the secret with the key id ${missing.join(' and ')}; given: ${given.join(', ')}. ` +
      'Put it back as the secret, or give it in TOLLGATE_SECRETS_ACCEPTED; ' +
      'if it is lost, "tollgate secret retire --force" goes on without it. See docs/operations.md, "The secret".',
  );
}

/** Called at the start of a gateway: the books need the current secret from now on. Throws like `requireSecrets`. */
export async function takeUpSecrets(database: Database, secrets: Secrets, nowMs: number): Promise<void> {
  await requireSecrets(database, secrets);
  const [{ id }, ...accepted] = secrets;
  const [newest] = await readNotedSecrets(database.read);
  if (newest?.id === id) return;
  const since = { current_since_ms: Math.max(nowMs, (newest?.currentSinceMs ?? 0) + 1) };
  await database.write.transaction().execute(async (transaction) => {
    await transaction
      .insertInto('secrets')
      .values({ id, ...since })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(since))
      .execute();
    // Made before this was noted. Where there are several secrets, it is unknown under which.
    if (newest === undefined && accepted.length === 0) {
      await transaction.updateTable('api_keys').set({ secret_id: id }).where('secret_id', 'is', null).execute();
    }
  });
}

/** Newest first. */
export async function readNotedSecrets(db: Kysely<Tables>): Promise<readonly NotedSecret[]> {
  const rows = await db.selectFrom('secrets').selectAll().orderBy('current_since_ms', 'desc').execute();
  return rows.map((row) => ({ id: row.id, currentSinceMs: row.current_since_ms }));
}

/** The books need no secret any more but the one with this key id. Returns the key ids of those that are ended. */
export async function forgetSecretsBut(db: Kysely<Tables>, id: string): Promise<readonly string[]> {
  const rows = await db.deleteFrom('secrets').where('id', '!=', id).returning('id').execute();
  return rows.map((row) => row.id);
}

/** Ids of the keys that work, or may work again, and are digested under another secret than the one with this key id. */
export async function findKeysUnderOtherSecrets(database: Database, id: string): Promise<readonly string[]> {
  const rows = await database.read
    .selectFrom('api_keys')
    .select('id')
    .where('revoked_at_ms', 'is', null)
    .where((eb) => eb.or([eb('secret_id', '!=', id), eb('secret_id', 'is', null)]))
    .orderBy('id')
    .execute();
  return rows.map((row) => row.id);
}
