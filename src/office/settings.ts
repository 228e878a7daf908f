// Settings of an account: name, data retention, members and invitations.
import { findAccounts } from '../domain/accounts/manage-accounts.ts';
import type { AuditedChanges } from '../domain/audit/audited-changes.ts';
import { ApiError } from '../canonical/errors.ts';
import type { NewInvitation as ShownInvitation, settingsEndpoints } from './contract/settings.ts';
import type { Database } from '../db/database.ts';
import type { Role } from '../db/schema.ts';
import { listInvitations } from '../domain/users/invitations.ts';
import type { Mail } from '../domain/users/mail.ts';
import { listMembers, type MemberChange } from '../domain/users/members.ts';
import { invitationMail } from '../domain/users/messages.ts';
import { updateAccount } from './changes/accounts.ts';
import {
  inviteMember,
  leaveAccount,
  removeMember,
  setRole,
  withdrawInvitation,
  type InvitationOutcome,
} from './changes/members.ts';
import type { DashboardContext } from './context.ts';
import { isAtLeast, requireProof, requireWithinBudget } from './access.ts';
import { listAccountChanges } from './account-audit.ts';
import { audited, type Changed, type Handlers } from './handlers.ts';
import { linkTo } from './links.ts';
import { profileHandlers } from './profile.ts';
import { checkEmail, checkName } from './sign-in-fields.ts';

const done = { ok: true } as const;

export const settingsHandlers: Handlers<typeof settingsEndpoints> = {
  ...profileHandlers,

  'GET /accounts/:account/settings': async ({ context, account: { accountId } }) => {
    const [account] = await findAccounts(context.database, [accountId]);
    if (!account) throw noSuchAccount();
    const { id, name, retainResponses, createdAtMs } = account;
    return {
      id,
      name,
      retain_responses: retainResponses,
      created_at: new Date(createdAtMs).toISOString(),
    };
  },

  'PATCH /accounts/:account/settings': async ({ account: { accountId }, body, changes }) => {
    const name = body.name === undefined ? undefined : checkName(body.name);
    if (
      !(await updateAccount(changes, accountId, { name, retainResponses: body.retain_responses }))
    )
      throw noSuchAccount();
    return audited(done);
  },

  'GET /accounts/:account/audit-log': ({ context, account: { accountId }, query }) =>
    listAccountChanges(context, { accountId, ...query }),

  'GET /accounts/:account/members': ({ context, account }) =>
    memberRows(context.database, account.accountId),

  'PATCH /accounts/:account/members/:user': async ({
    account: { accountId },
    params,
    body: { role },
    changes,
  }) => {
    checkMemberChange(await setRole(changes, { accountId, userId: params.user }, role));
    return audited(done);
  },

  'DELETE /accounts/:account/members/:user': async ({
    account: { accountId },
    params,
    changes,
  }) => {
    checkMemberChange(await removeMember(changes, { accountId, userId: params.user }));
    return audited(done);
  },

  'POST /accounts/:account/leave': async ({
    account: { accountId },
    session: { userId },
    changes,
  }) => {
    checkMemberChange(await leaveAccount(changes, { accountId, userId }));
    return audited(done);
  },

  'GET /accounts/:account/invitations': async ({ context, account: { accountId } }) => ({
    data: await invitationRows(context, accountId),
  }),

  'POST /accounts/:account/invitations': async ({
    context,
    account,
    body,
    session,
    changes,
    request,
  }) => {
    const { users } = context;
    const { accountId } = account;
    const email = checkEmail(body.email);
    const { role } = body;
    await requireProof(context, { userId: session.userId, accountId });
    await requireWithinBudget(context, account, { userId: session.userId, keyId: null });
    if (!isAtLeast(account.role, role))
      throw new ApiError('not_permitted', 'Only an owner of the account may invite owners.');
    await users.attempts.take(request.ip, { kind: 'invitation', of: `${accountId} ${email}` });
    // The operator's mail server must not write to any number of strangers.
    if (users.mailer)
      await users.attempts.take(request.ip, { kind: 'account-invitations', of: accountId });
    return inviteTo(
      { context, changes },
      { accountId, email, role, by: session, inviterRole: account.role },
    );
  },

  'DELETE /accounts/:account/invitations/:invitation': async ({
    account: { accountId },
    params: { invitation: id },
    changes,
  }) => {
    await withdrawOrThrow(changes, { accountId, id });
    return audited(done);
  },
};

type NewInvitation = {
  readonly accountId: string;
  /** Already checked. */
  readonly email: string;
  readonly role: Role;
  /** `userId`: null when no user invites. `name`: as the e-mail shows it. */
  readonly by: { readonly userId: string | null; readonly name: string };
  /** Absent when an operator invites. */
  readonly inviterRole?: Role;
};

type InviteCall = { readonly context: DashboardContext; readonly changes: AuditedChanges };

/** Invites a person, and sends the link when there is a mail server. Throws like `makeInvitation`. */
export async function inviteTo(
  call: InviteCall,
  invitation: NewInvitation,
): Promise<Changed<ShownInvitation>> {
  const { shown, mail } = await makeInvitation(call, invitation);
  if (mail) call.context.users.mailer?.sendLater(mail);
  return audited(shown);
}

/**
 * Creates an invitation. `mail`: to be sent once the invitation is committed; null without a mail
 * server. The inviter is shown another link, which proves nothing about the address. Throws
 * ApiError 403, 404, 409.
 */
export async function makeInvitation(
  { context, changes }: InviteCall,
  { accountId, email, role, by, inviterRole }: NewInvitation,
): Promise<{ readonly shown: ShownInvitation; readonly mail: Mail | null }> {
  const invitation = {
    accountId,
    email,
    role,
    invitedBy: by.userId,
    inviterRole,
    mailed: context.users.mailer !== null,
  };
  const { id, accountName, token, mailedToken } = invitedOrThrow(
    await inviteMember(changes, invitation),
  );
  const shown = {
    id,
    link: linkTo(context, '/invitation', token),
    mailed: mailedToken !== null,
  };
  if (mailedToken === null) return { shown, mail: null };
  const link = linkTo(context, '/invitation', mailedToken);
  return {
    shown,
    mail: { to: email, ...invitationMail({ accountName, invitedBy: by.name, role, link }) },
  };
}

function invitedOrThrow(
  outcome: InvitationOutcome,
): Extract<InvitationOutcome, { kind: 'invited' }> {
  switch (outcome.kind) {
    case 'invited':
      return outcome;
    case 'unknown-account':
      throw noSuchAccount();
    case 'is-member':
      throw new ApiError('conflict', 'This person is already a member.', { param: 'email' });
    case 'role-changed':
      throw new ApiError('not_permitted', 'Your role in the account has changed. Reload the page.');
  }
}

/** Throws ApiError 404 when there is no such open invitation. */
export async function withdrawOrThrow(
  changes: AuditedChanges,
  invitation: { readonly accountId: string; readonly id: string },
): Promise<void> {
  if (!(await withdrawInvitation(changes, invitation)))
    throw new ApiError('not_found', 'There is no such invitation, or it was accepted.');
}

export function checkMemberChange({ kind }: MemberChange): void {
  if (kind === 'no-such-member')
    throw new ApiError('not_found', 'There is no such member in the account.');
  if (kind === 'last-owner')
    throw new ApiError(
      'conflict',
      'An account needs at least one owner. Make another member owner first.',
    );
}

function noSuchAccount(): ApiError {
  return new ApiError('not_found', 'There is no such account, or it is not yours.');
}

/** The members of an account, for its owners and for operators. */
export async function memberRows(database: Database, accountId: string) {
  const members = await listMembers(database, accountId);
  return {
    data: members.map(({ userId, name, email, role, hasSecondFactor, joinedAtMs }) => ({
      user_id: userId,
      name,
      email,
      role,
      second_factor: hasSecondFactor,
      joined_at: new Date(joinedAtMs).toISOString(),
    })),
  };
}

/** The open invitations of an account, newest first, for its owners and for operators. */
export async function invitationRows({ database, gateway }: DashboardContext, accountId: string) {
  const invitations = await listInvitations(database, accountId, gateway.clock.nowMs());
  return invitations.map(({ id, email, role, invitedBy, createdAtMs, expiresAtMs }) => ({
    id,
    email,
    role,
    invited_by: invitedBy,
    created_at: new Date(createdAtMs).toISOString(),
    expires_at: new Date(expiresAtMs).toISOString(),
  }));
}
