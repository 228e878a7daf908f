// Invites members of an account, changes their roles and removes them. Each change and its audit
// row are one transaction.
import { ApiError, noSuch } from '../../canonical/errors.ts';
import { findAccounts } from '../../domain/accounts/manage-accounts.ts';
import { changedFields } from '../../domain/audit/changed-fields.ts';
import type { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import {
  invite,
  withdrawInvitation as withdraw,
  type InvitationLinks,
  type NewInvitation,
} from '../../domain/users/invitations.ts';
import { type BudgetTerms, readBudgets, writeBudget } from '../../domain/users/budgets.ts';
import {
  changeMember,
  endInvitations,
  listMembers,
  lockMembers,
} from '../../domain/users/members.ts';
import type { Role } from '../../db/schema.ts';
import { noSuchAccount } from './accounts.ts';

type Invited = InvitationLinks & { readonly accountName: string };

/**
 * Creates an invitation. `invitation.email` must be normalized. Throws ApiError 404, 409, or 403
 * when the inviter has lost the role that allowed the invitation.
 */
export function inviteMember(changes: AuditedChanges, invitation: NewInvitation): Promise<Invited> {
  const { accountId, email, role } = invitation;
  return changes.commit(async (database) => {
    const [account] = await findAccounts(database.read, [accountId]);
    if (!account) throw noSuchAccount();
    const members = await listMembers(database.read, accountId);
    if (members.some((member) => member.email === email))
      throw new ApiError('conflict', 'This person is already a member.', { param: 'email' });
    const links = await invite(database.write, invitation, changes.clock.nowMs());
    if (!links)
      throw new ApiError('not_permitted', 'Your role in the account has changed. Reload the page.');
    const about = { action: 'invitation.create', subject: links.id, accountId } as const;
    const result = { accountName: account.name, ...links };
    return { result, change: { ...about, after: { email, role } } };
  });
}

/** Throws ApiError 404 when there is no such open invitation. */
export function withdrawInvitation(
  changes: AuditedChanges,
  { accountId, id }: { readonly accountId: string; readonly id: string },
): Promise<void> {
  return changes.commit(async (database) => {
    const before = await withdraw(database.write, { accountId, id });
    if (!before)
      throw new ApiError('not_found', 'There is no such invitation, or it was accepted.');
    const about = { action: 'invitation.withdraw', subject: id, accountId } as const;
    return { change: { ...about, before } };
  });
}

type MemberRef = { readonly accountId: string; readonly userId: string };

/**
 * A term that is left out stays as it is; two nulls remove a budget. A budget ends the open
 * invitations that its user made. Throws ApiError 404 when there is neither such a member nor such
 * a budget.
 */
export function setBudget(
  changes: AuditedChanges,
  { accountId, userId }: MemberRef,
  { daily_micros: daily, monthly_micros: monthly }: Partial<BudgetTerms>,
): Promise<void> {
  return changes.commit(async (database) => {
    const members = await lockMembers(database.write, accountId);
    const budgets = await readBudgets(database.write, accountId);
    const earlier = budgets.get(userId);
    const role = members.find((member) => member.user_id === userId)?.role;
    // Who has left may still have keys, and so a budget.
    if (!earlier && role === undefined) throw noSuchMember();
    const before = earlier ?? { daily_micros: null, monthly_micros: null };
    const terms = {
      daily_micros: daily === undefined ? before.daily_micros : daily,
      monthly_micros: monthly === undefined ? before.monthly_micros : monthly,
    };
    await writeBudget(database.write, { accountId, userId }, terms);
    const hasBudget = terms.daily_micros !== null || terms.monthly_micros !== null;
    // Owners may lift their own budget, so it takes nothing from them.
    if (hasBudget && role !== 'owner')
      await endInvitations(database.write, { accountId, userId, isRemoved: false });
    const fields = changedFields(before, terms);
    const about = { action: 'member.budget', subject: userId, accountId } as const;
    return { change: fields && { ...about, ...fields } };
  });
}

export function changeMembership(
  changes: AuditedChanges,
  action: 'member.update' | 'member.remove' | 'member.leave',
  { accountId, userId, role }: MemberRef & { readonly role: Role | null },
): Promise<void> {
  return changes.commit(async ({ write }) => {
    const outcome = await changeMember(write, { accountId, userId, role });
    if (outcome.kind === 'no-such-member') throw noSuchMember();
    if (outcome.kind === 'last-owner')
      throw new ApiError(
        'conflict',
        'An account needs at least one owner. Make another member owner first.',
      );
    const { before } = outcome;
    const fields = { before: { role: before }, after: role && { role } };
    const change = { action, subject: userId, accountId, ...fields };
    return { change: before === role ? null : change };
  });
}

export function noSuchMember(): ApiError {
  return noSuch('member in the account');
}
