// The users to whom keys belong: who made a key, or to whom an owner of the account gave it. All
// keys of a user in an account and mode share the user's budget. management/changes/keys.ts writes
// audit rows.
import type { Mode } from '../../terms/mode.ts';
import type { Db } from '../../db/schema.ts';

export type KeyOwner = { readonly user_id: string; readonly name: string };

/** Returns the owners by key id; keys of nobody are missing. */
export async function readKeyOwners(
  read: Db,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, KeyOwner>> {
  if (keyIds.length === 0) return new Map();
  return byKey(await ownerRows(read).where('key_id', 'in', keyIds).execute());
}

export async function listKeyOwners(
  read: Db,
  accountId: string | null,
): Promise<ReadonlyMap<string, KeyOwner>> {
  let query = ownerRows(read);
  if (accountId !== null)
    query = query.where('ledger_id', 'in', [`${accountId}:live`, `${accountId}:test`]);
  return byKey(await query.execute());
}

function ownerRows(read: Db) {
  return read
    .selectFrom('key_owners')
    .leftJoin('users', 'users.id', 'key_owners.user_id')
    .select(['key_id', 'user_id', 'users.name']);
}

type OwnerRow = Pick<KeyOwner, 'user_id'> & {
  readonly key_id: string;
  readonly name: string | null;
};

function byKey(rows: readonly OwnerRow[]): ReadonlyMap<string, KeyOwner> {
  return new Map(rows.map(({ key_id, user_id, name }) => [key_id, { user_id, name: name ?? '' }]));
}

type Owned = {
  readonly keyId: string;
  readonly accountId: string;
  readonly mode: Mode;
  /** null: nobody. */
  readonly userId: string | null;
};

export async function writeKeyOwner(
  db: Db,
  { keyId, accountId, mode, userId }: Owned,
): Promise<void> {
  await db.deleteFrom('key_owners').where('key_id', '=', keyId).execute();
  if (userId === null) return;
  const row = { key_id: keyId, ledger_id: `${accountId}:${mode}`, user_id: userId };
  await db.insertInto('key_owners').values(row).execute();
}
