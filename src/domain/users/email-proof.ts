// Proves that an address belongs to a user, with a link that is sent to it. Also how a user changes
// to another address.
import type { Db } from '../../db/schema.ts';
import { useLink } from './one-time-link.ts';
import { changeEmail } from './user-records.ts';

type ProvenEmail = { readonly email: string; readonly before: string };

/**
 * Marks the address as the user's. `userId`: the user who follows the link. Only that user may
 * confirm the address: when somebody else signed up with it, a click by the address's owner must
 * not confirm it. Returns null when the link belongs to another user, is used or has expired, or
 * when the address now belongs to another user.
 */
export async function proveEmail(
  transaction: Db,
  { token, userId }: { readonly token: string; readonly userId: string },
  nowMs: number,
): Promise<ProvenEmail | null> {
  const link = await useLink(transaction, { kind: 'verify-email', token }, nowMs);
  if (link?.userId !== userId || link.email === null) return null;
  const { email } = link;
  const { email: before } = await transaction
    .selectFrom('users')
    .select('email')
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  const isChanged = await changeEmail(transaction, { userId, email, isVerified: true });
  return isChanged ? { email, before } : null;
}
