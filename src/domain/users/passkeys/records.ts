// Creates, finds and changes the rows of passkeys.
import type { Selectable } from 'kysely';
import type { Db, Tables } from '../../../db/schema.ts';
import { newIdWithPrefix } from '../../../lib/ids.ts';
import { camelCase, snakeCase } from '../../../lib/snake-case.ts';

/** The most that a user may have. */
export const passkeysMax = 20;

/** A new credential from an authenticator. Key and id are in base64url. */
export type NewPasskey = {
  readonly credentialId: string;
  readonly publicKey: string;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly rpId: string;
};

/** Lists a user's passkeys, oldest first. */
export async function listPasskeys(db: Db, userId: string) {
  const rows = await selectPasskeys(db).where('user_id', '=', userId).orderBy('id').execute();
  return rows.map(toPasskey);
}

export async function findPasskey(db: Db, credentialId: string) {
  const row = await selectPasskeys(db).where('credential_id', '=', credentialId).executeTakeFirst();
  return row ? toPasskey(row) : null;
}

function selectPasskeys(db: Db) {
  return db.selectFrom('user_passkeys').selectAll();
}

function toPasskey(row: Selectable<Tables['user_passkeys']>) {
  return { ...camelCase(row), transports: JSON.parse(row.transports) as string[] };
}

/** Returns the id, or why nothing was added. `is-known`: some user has this passkey. */
export async function insertPasskey(
  transaction: Db,
  { userId, name, ...passkey }: NewPasskey & { readonly userId: string; readonly name: string },
  nowMs: number,
): Promise<
  { readonly kind: 'added'; readonly id: string } | { readonly kind: 'is-known' | 'full' }
> {
  // Locks the user, so that simultaneous additions do not pass the limit.
  await transaction
    .updateTable('users')
    .set((eb) => ({ name: eb.ref('name') }))
    .where('id', '=', userId)
    .execute();
  if ((await listPasskeys(transaction, userId)).length >= passkeysMax) return { kind: 'full' };
  const inserted = await transaction
    .insertInto('user_passkeys')
    .values({
      id: newIdWithPrefix('pky'),
      user_id: userId,
      ...snakeCase(passkey),
      transports: JSON.stringify(passkey.transports),
      name,
      created_at_ms: nowMs,
    })
    .onConflict((conflict) => conflict.column('credential_id').doNothing())
    .returning('id')
    .executeTakeFirst();
  return inserted ? { kind: 'added', id: inserted.id } : { kind: 'is-known' };
}

/**
 * Records a use. Returns false when the passkey is gone, or its counter did not grow: then there is
 * a copy of it. Authenticators that do not count always send 0.
 */
export async function usePasskey(
  db: Db,
  { id, counter }: { readonly id: string; readonly counter: number },
  nowMs: number,
): Promise<boolean> {
  const used = await db
    .updateTable('user_passkeys')
    .set({ counter, last_used_at_ms: nowMs })
    .where('id', '=', id)
    .where('counter', counter === 0 ? '=' : '<', counter)
    .returning('id')
    .executeTakeFirst();
  return used !== undefined;
}

/** Returns the name, or null when it is not one of the user's. */
export async function removePasskey(
  transaction: Db,
  { userId, id }: { readonly userId: string; readonly id: string },
): Promise<string | null> {
  const removed = await transaction
    .deleteFrom('user_passkeys')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .returning('name')
    .executeTakeFirst();
  return removed?.name ?? null;
}

/** Returns the number of removed passkeys. */
export async function removePasskeys(transaction: Db, userId: string): Promise<number> {
  const [result] = await transaction
    .deleteFrom('user_passkeys')
    .where('user_id', '=', userId)
    .execute();
  return Number(result!.numDeletedRows);
}
