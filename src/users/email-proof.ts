// Proving that an address is a user's: by a link that was sent there. Also how a user changes to another address.
import type { Database } from '../db/database.ts';
import { transact } from '../db/transact.ts';
import { createLink, useLink } from './one-time-link.ts';
import { changeEmail, isTaken, normalizeEmail } from './user-records.ts';

/** Returns the token of a link to be sent to the address. */
export async function createProofLink(
  database: Database,
  { userId, email }: { readonly userId: string; readonly email: string },
  nowMs: number,
): Promise<string> {
  return createLink(database, { kind: 'verify-email', userId, email: normalizeEmail(email) }, nowMs);
}

export type ProvenEmail = { readonly email: string; readonly before: string };

/**
 * The address is the user's from now on. `userId`: who follows the link, since nobody but the user may confirm that the address is his: what
 * somebody else signed up with is not confirmed by a click of the address's owner. null: the link is another user's, is used or has
 * expired, or the address has become somebody else's.
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

/** Without proof, where no mail can be sent. Returns false when the address is somebody else's. */
export async function takeEmail(
  database: Database,
  { userId, email }: { readonly userId: string; readonly email: string },
): Promise<boolean> {
  const isChanged = await unlessTaken(() =>
    transact(database, (transaction) => changeEmail(transaction, { userId, email, isVerified: false })),
  );
  return isChanged === true;
}

/** null: somebody else took the address at the same moment. */
async function unlessTaken<Result>(work: () => Promise<Result>): Promise<Result | null> {
  try {
    return await work();
  } catch (error) {
    if (isTaken(error)) return null;
    throw error;
  }
}
