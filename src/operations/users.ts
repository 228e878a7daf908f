// Creates links that let people in. Each link and its audit row are one transaction.
import type { Change } from '../domain/audit/audit-log.ts';
import type { AuditedChanges } from '../domain/audit/audited-changes.ts';
import { createFirstRunLink as firstRunLink } from '../domain/users/first-run.ts';
import { createResetLink as resetLink } from '../domain/users/password-reset.ts';
import { findUser, removeSecondFactor, type UserRecord } from '../domain/users/user-records.ts';

/**
 * Creates a link to choose a new password, for an operator to hand over. Returns null when the user
 * does not exist.
 */
export function createResetLink(
  changes: AuditedChanges,
  who: { readonly id: string } | { readonly email: string },
  { withoutSecondFactor = false } = {},
): Promise<{ readonly user: UserRecord; readonly token: string } | null> {
  return changes.commit(async (database) => {
    const user = await findUser(database, who);
    if (!user) return { result: null, change: null };
    if (withoutSecondFactor) await removeSecondFactor(database.write, user.id);
    const token = await resetLink(database, { user, mailed: false }, changes.clock.nowMs());
    const after = { email: user.email, ...(withoutSecondFactor && { second_factor: false }) };
    return {
      result: { user, token },
      change: { action: 'user.reset-link', subject: user.id, before: null, after },
    };
  });
}

/** Creates a link for the first user. Returns null when there are users already. */
export function createFirstRunLink(changes: AuditedChanges): Promise<string | null> {
  return changes.commit(async (database) => {
    const token = await firstRunLink(database, changes.clock.nowMs());
    const change: Change = {
      action: 'user.first-run-link',
      subject: 'first user',
      before: null,
      after: null,
    };
    return { result: token, change: token === null ? null : change };
  });
}
