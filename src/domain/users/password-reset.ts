// Sets a new password through a link, which is e-mailed or passed on by an operator.
import type { Db } from '../../db/schema.ts';
import { createLink, handedOverLifetimeMs, useLink } from './one-time-link.ts';
import { removePasskeys } from './passkeys/records.ts';
import {
  markProved,
  removeSecondFactor,
  replacePassword,
  type UserRecord,
} from './user-records.ts';

/**
 * Creates a link and returns its token. `mailed`: the link is sent to the user's address, so
 * following it proves the address.
 */
export async function createResetLink(
  write: Db,
  { user, mailed }: { readonly user: Pick<UserRecord, 'id' | 'email'>; readonly mailed: boolean },
  nowMs: number,
): Promise<string> {
  const email = mailed ? user.email : null;
  const lifetimeMs = mailed ? undefined : handedOverLifetimeMs;
  return createLink(write, { kind: 'password-reset', userId: user.id, email, lifetimeMs }, nowMs);
}

/**
 * Sets the password and ends all sessions; the second factor and passkeys stay. When the address was never
 * proved, somebody else may have signed up with it: then the second factor, the passkeys and the
 * linked identity providers are removed too. Returns the user's id, or null when the link is used or expired.
 */
export async function resetPassword(
  transaction: Db,
  { token, passwordHash }: { readonly token: string; readonly passwordHash: string },
  nowMs: number,
): Promise<string | null> {
  const link = await useLink(transaction, { kind: 'password-reset', token }, nowMs);
  if (!link?.userId) return null;
  const { userId } = link;
  const user = await transaction
    .selectFrom('users')
    .select(['email', 'email_verified'])
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  if (link.email !== null && link.email !== user.email) return null;
  if (link.email !== null && !user.email_verified) {
    await removeSecondFactor(transaction, userId);
    await removePasskeys(transaction, userId);
    await transaction.deleteFrom('user_credentials').where('user_id', '=', userId).execute();
    await markProved(transaction, userId);
  }
  await replacePassword(transaction, { userId, passwordHash }, nowMs);
  return userId;
}
