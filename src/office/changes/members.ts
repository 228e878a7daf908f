// Invites members of an account, changes their roles and removes them. Each change and its audit
// row are one transaction.
import type { Change } from '../../domain/audit/audit-log.ts';
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
  type MemberChange,
} from '../../domain/users/members.ts';
import type { Role } from '../../db/schema.ts';

export type InvitationOutcome =
  | ({ readonly kind: 'invited'; readonly accountName: string } & InvitationLinks)
  | { readonly kind: 'unknown-account' }
  /** The address already belongs to a member. */
  | { readonly kind: 'is-member' }
  /** The inviter has lost the role that allowed the invitation. */
  | { readonly kind: 'role-changed' };

/** Creates an invitation. `invitation.email` must be normalized. */
export function inviteMember(
  changes: AuditedChanges,
  invitation: NewInvitation,
): Promise<InvitationOutcome> {
  const { accountId, email, role } = invitation;
  return changes.commit<InvitationOutcome>(async (database) => {
    const [account] = await findAccounts(database, [accountId]);
    if (!account) return { result: { kind: 'unknown-account' }, change: null };
    const members = await listMembers(database, accountId);
    if (members.some((member) => member.email === email))
      return { result: { kind: 'is-member' }, change: null };
    const links = await invite(database, invitation, changes.clock.nowMs());
    if (!links) return { result: { kind: 'role-changed' }, change: null };
    const change: Change = {
      action: 'invitation.create',
      subject: links.id,
      accountId,
      before: null,
      after: { email, role },
    };
    return { result: { kind: 'invited', accountName: account.name, ...links }, change };
  });
}

/** Returns false when there is no such open invitation. */
export function withdrawInvitation(
  changes: AuditedChanges,
  { accountId, id }: { readonly accountId: string; readonly id: string },
): Promise<boolean> {
  return changes.commit(async (database) => {
    const before = await withdraw(database, { accountId, id });
    const change: Change | null = before && {
      action: 'invitation.withdraw',
      subject: id,
      accountId,
      before,
      after: null,
    };
    return { result: before !== null, change };
  });
}

type MemberRef = { readonly accountId: string; readonly userId: string };

export function setRole(
  changes: AuditedChanges,
  member: MemberRef,
  role: Role,
): Promise<MemberChange> {
  return commitMember(changes, 'member.update', { ...member, role });
}

export function removeMember(changes: AuditedChanges, member: MemberRef): Promise<MemberChange> {
  return commitMember(changes, 'member.remove', { ...member, role: null });
}

/**
 * A term that is left out stays as it is; two nulls remove a budget. A budget ends the open
 * invitations that its user made. Returns false when there is neither such a member nor such a
 * budget.
 */
export function setBudget(
  changes: AuditedChanges,
  { accountId, userId }: MemberRef,
  { daily_micros: daily, monthly_micros: monthly }: Partial<BudgetTerms>,
): Promise<boolean> {
  return changes.commit(async (database) => {
    const members = await lockMembers(database.write, accountId);
    const budgets = await readBudgets({ read: database.write }, accountId);
    const earlier = budgets.get(userId);
    const role = members.find((member) => member.user_id === userId)?.role;
    // Who has left may still have keys, and so a budget.
    if (!earlier && role === undefined) return { result: false, change: null };
    const before = earlier ?? { daily_micros: null, monthly_micros: null };
    const terms = {
      daily_micros: daily === undefined ? before.daily_micros : daily,
      monthly_micros: monthly === undefined ? before.monthly_micros : monthly,
    };
    await writeBudget(database, { accountId, userId }, terms);
    const hasBudget = terms.daily_micros !== null || terms.monthly_micros !== null;
    // Owners may lift their own budget, so it takes nothing from them.
    if (hasBudget && role !== 'owner')
      await endInvitations(database.write, { accountId, userId, isRemoved: false });
    const fields = changedFields(before, terms);
    const about = { action: 'member.budget', subject: userId, accountId } as const;
    return { result: true, change: fields && { ...about, ...fields } };
  });
}

/** Removes a member who leaves on their own. */
export function leaveAccount(changes: AuditedChanges, member: MemberRef): Promise<MemberChange> {
  return commitMember(changes, 'member.leave', { ...member, role: null });
}

function commitMember(
  changes: AuditedChanges,
  action: `member.${string}`,
  { accountId, userId, role }: MemberRef & { readonly role: Role | null },
): Promise<MemberChange> {
  return changes.commit(async (database) => {
    const result = await changeMember(database, { accountId, userId, role });
    if (result.kind !== 'changed' || result.before === role) return { result, change: null };
    const fields = { before: { role: result.before }, after: role && { role } };
    return { result, change: { action, subject: userId, accountId, ...fields } };
  });
}
