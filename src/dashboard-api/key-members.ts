// The members in whose figures the keys of an account count, and who may be filtered by.
import type { Database } from '../db/database.ts';
import { readKeyMakers } from '../domain/audit/key-makers.ts';
import { listKeyOwners } from '../domain/keys/key-owners.ts';
import { listMembers } from '../domain/users/members.ts';

export type KeyMember = { readonly id: string; readonly name: string };

/**
 * Returns the owner of each key, else the member who made it: keys from before owners have none.
 * Other keys are missing. A member's figures are the sums of their keys, so all that a key has done
 * moves with it to a new owner, as in budgets. They are not stored per member: that would add rows
 * to each request.
 */
export async function readKeyMembers(
  database: Pick<Database, 'read'>,
  accountId: string,
): Promise<ReadonlyMap<string, KeyMember>> {
  const { read } = database;
  const [makers, owners, members] = await Promise.all([
    readKeyMakers(read, accountId),
    listKeyOwners(database, accountId),
    listMembers(database, accountId),
  ]);
  const emails = new Map(members.map(({ userId, email }) => [userId, email]));
  const byKey = new Map<string, KeyMember>(makers);
  for (const [keyId, { userId: id, name }] of owners) byKey.set(keyId, { id, name });
  return new Map(
    [...byKey].map(([keyId, { id, name }]) => [keyId, { id, name: emails.get(id) ?? name }]),
  );
}
