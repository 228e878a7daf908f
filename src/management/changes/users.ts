// Creates links that let people in, and removes what strangers could use. Each change and its audit
// row are one transaction.
import { noSuch } from '../../canonical/errors.ts';
import type { Database } from '../../db/database.ts';
import type { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import { createFirstRunLink as firstRunLink } from '../../domain/users/first-run.ts';
import { removePasskeys } from '../../domain/users/passkeys/records.ts';
import { createResetLink as resetLink } from '../../domain/users/password-reset.ts';
import { findUser, removeSecondFactor, type UserRecord } from '../../domain/users/user-records.ts';

type Who = { readonly id: string } | { readonly email: string };

type ResetLink = {
  readonly user: UserRecord;
  readonly token: string;
  readonly passkeysRemoved: number;
};

/**
 * Creates a link to choose a new password, for an operator to hand over. `withoutSecondFactor`: the
 * user has lost the devices, so the second factor and the passkeys are removed. Throws ApiError
 * 404.
 */
export function createResetLink(
  changes: AuditedChanges,
  who: Who,
  { withoutSecondFactor = false } = {},
): Promise<ResetLink> {
  return changes.commit(async (database) => {
    const user = await requireUser(database, who);
    if (withoutSecondFactor) await removeSecondFactor(database.write, user.id);
    const passkeysRemoved = withoutSecondFactor ? await removePasskeys(database.write, user.id) : 0;
    const token = await resetLink(database.write, { user, mailed: false }, changes.clock.nowMs());
    const removed = { second_factor: false, passkeys_removed: passkeysRemoved };
    const after = { email: user.email, ...(withoutSecondFactor && removed) };
    return {
      result: { user, token, passkeysRemoved },
      change: { action: 'user.reset-link', subject: user.id, after },
    };
  });
}

/** Creates a link for the first user. Returns null when there are users already. */
export function createFirstRunLink(changes: AuditedChanges): Promise<string | null> {
  return changes.commit(async (database) => {
    const token = await firstRunLink(database, changes.clock.nowMs());
    const change = { action: 'user.first-run-link', subject: 'first user' } as const;
    return { result: token, change: token === null ? null : change };
  });
}

async function requireUser(database: Database, who: Who): Promise<UserRecord> {
  const user = await findUser(database, who);
  if (user) return user;
  throw noSuch('user');
}
