// The secrets that this database needs. Every secret that was ever current is registered until the
// operator ends it. A start without one, after restoring a backup for example, then reports which
// secret is missing instead of refusing every key.
import { DatabaseUnusable } from '../../db/database-error.ts';
import type { Database } from '../../db/database.ts';
import type { Db } from '../../db/schema.ts';
import type { Secrets } from '../../lib/secrets.ts';

type RegisteredSecret = {
  readonly id: string;
  /** When a gateway first started with this secret as the current one. */
  readonly currentSinceMs: number;
};

/** Throws when a secret that the database needs is missing from `secrets`. */
export async function requireSecrets(read: Db, secrets: Secrets): Promise<void> {
  const given = secrets.map(({ id }) => id);
  const missing = (await readRegisteredSecrets(read))
    .map(({ id }) => id)
    .filter((id) => !given.includes(id));
  if (missing.length === 0) return;
  throw new DatabaseUnusable(
    `This database needs the secret with the key id ${missing.join(' and ')}; given: ${given.join(', ')}. ` +
      'Restore that secret, or add it to TOLLGATE_SECRETS_ACCEPTED; ' +
      'if it is lost, run "tollgate secret retire --force" to continue without it. See docs/operations.md, "The secret".',
  );
}

/** Registers the current secret when a gateway starts. Throws like `requireSecrets`. */
export async function registerSecrets(
  database: Database,
  secrets: Secrets,
  nowMs: number,
): Promise<void> {
  await requireSecrets(database.read, secrets);
  const [{ id }] = secrets;
  const [newest] = await readRegisteredSecrets(database.read);
  if (newest?.id === id) return;
  const since = { current_since_ms: Math.max(nowMs, (newest?.currentSinceMs ?? 0) + 1) };
  await database.write
    .insertInto('secrets')
    .values({ id, ...since })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(since))
    .execute();
}

/** Returns the newest first. */
export async function readRegisteredSecrets(db: Db): Promise<readonly RegisteredSecret[]> {
  const rows = await db
    .selectFrom('secrets')
    .selectAll()
    .orderBy('current_since_ms', 'desc')
    .execute();
  return rows.map((row) => ({ id: row.id, currentSinceMs: row.current_since_ms }));
}

/** Ends all secrets but the one with this key id. */
export async function forgetOtherSecrets(db: Db, id: string): Promise<void> {
  await db.deleteFrom('secrets').where('id', '!=', id).execute();
}

/**
 * Returns ids of unrevoked keys with a text that works only under another secret than this one. One of
 * which only a plain hash is known has no secret.
 */
export async function findKeysUnderOtherSecrets(
  read: Db,
  id: string,
  nowMs: number,
): Promise<readonly string[]> {
  const rows = await read
    .selectFrom('api_keys')
    .select('id')
    .where('revoked_at_ms', 'is', null)
    .where((eb) =>
      eb.or([
        eb('secret_id', '!=', id),
        eb.exists(
          eb
            .selectFrom('earlier_keys')
            .select('earlier_keys.key_id')
            .whereRef('earlier_keys.key_id', '=', 'api_keys.id')
            .where('earlier_keys.expires_at_ms', '>', nowMs)
            .where('earlier_keys.secret_id', '!=', id),
        ),
      ]),
    )
    .orderBy('id')
    .execute();
  return rows.map((row) => row.id);
}
