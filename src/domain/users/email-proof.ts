// Proves that an address belongs to a user, with a link that is sent to it. Also how a user changes
// to another address.
import type { Database } from '../../db/database.ts';
import { transact } from '../../db/transact.ts';
import { createLink, useLink } from './one-time-link.ts';
import { changeEmail, isTaken, normalizeEmail } from './user-records.ts';

/** Returns the token of a link to send to the address. */
export async function createProofLink(
  database: Database,
  { userId, email }: { readonly userId: string; readonly email: string },
  nowMs: number,
): Promise<string> {
  return createLink(
    database,
    { kind: 'verify-email', userId, email: normalizeEmail(email) },
    nowMs,
  );
}

type ProvenEmail = { readonly email: string; readonly before: string };

/**
 * Marks the address as the user's. `userId`: the user who follows the link. Only that user may
 * confirm the address: when somebody else signed up with it, a click by the address's owner must
 * not confirm it. Returns null when the link belongs to another user, is used or has expired, or
 * when the address now belongs to another user.
 */
export async function proveEmail(
  database: Database,
  { token, userId }: { readonly token: string; readonly userId: string },
  nowMs: number,
): Promise<ProvenEmail | null> {
  return unlessTaken(() =>
    transact(database, async (transaction) => {
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
    }),
  );
}

/**
 * Changes the address without proof, when no mail server is configured. Returns false when it
 * belongs to another user.
 */
export async function takeEmail(
  database: Database,
  { userId, email }: { readonly userId: string; readonly email: string },
): Promise<boolean> {
  const isChanged = await unlessTaken(() =>
    transact(database, (transaction) =>
      changeEmail(transaction, { userId, email, isVerified: false }),
    ),
  );
  return isChanged === true;
}

/** Returns null when another user took the address at the same moment. */
async function unlessTaken<Result>(work: () => Promise<Result>): Promise<Result | null> {
  try {
    return await work();
  } catch (error) {
    if (isTaken(error)) return null;
    throw error;
  }
}
