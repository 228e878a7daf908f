// Creates the first user of an installation. The person who opens the link that the first start
// printed becomes operator, and owner of the first account.
import type { Database } from '../../db/database.ts';
import type { Db } from '../../db/schema.ts';
import { addMember } from './members.ts';
import { createLink, useLink } from './one-time-link.ts';
import { hasUsers, insertUser } from './user-records.ts';

/** Returns the token of a new link, or null when there are users already. */
export async function createFirstRunLink(
  database: Database,
  nowMs: number,
): Promise<string | null> {
  if (await hasUsers(database.read)) return null;
  return createLink(database.write, { kind: 'first-run', userId: null, email: null }, nowMs);
}

type FirstUser = { readonly name: string; readonly email: string; readonly passwordHash: string };

/**
 * Returns the user's id, or null when the link is used or has expired or there is a user already.
 * All other first-run links stop working.
 */
export async function createFirstUser(
  transaction: Db,
  {
    token,
    user,
    accountId,
  }: { readonly token: string; readonly user: FirstUser; readonly accountId: string },
  nowMs: number,
): Promise<string | null> {
  if (!(await useLink(transaction, { kind: 'first-run', token }, nowMs))) return null;
  if (await hasUsers(transaction)) return null;
  // A person who can read the program's output is trusted about the address too.
  const operator = { ...user, isEmailVerified: true, isOperator: true };
  const userId = await insertUser(transaction, operator, nowMs);
  if (userId === null) return null;
  await addMember(transaction, { accountId, userId, role: 'owner' }, nowMs);
  return userId;
}
