// An account's own settings: its name, what it keeps, its members and who is invited.
import { findAccounts, updateAccount } from '../../accounts/manage-accounts.ts';
import type { AuditedChanges } from '../../audit/audited-changes.ts';
import { changedFields } from '../../audit/changed-fields.ts';
import { removePurgedOf } from '../../cache/purged-accounts.ts';
import { ApiError } from '../../canonical/errors.ts';
import type { NewInvitation as ShownInvitation, settingsEndpoints } from '../../dashboard-contract/settings.ts';
import type { Role } from '../../db/schema.ts';
import { dropBodies } from '../../idempotency/purge.ts';
import { invite, listInvitations, withdrawInvitation } from '../../users/invitations.ts';
import { changeMember, listMembers, type MemberChange } from '../../users/members.ts';
import { invitationMail } from '../../users/messages.ts';
import type { Session } from '../../users/session.ts';
import type { ServerContext } from '../context.ts';
import { isAtLeast, requireProof } from './access.ts';
import { audited, type Changed, type Handlers } from './handlers.ts';
import { memberRows } from './member-rows.ts';
import { linkTo } from './links.ts';
import { profileHandlers } from './profile.ts';
import { checkEmail, checkName } from './sign-in-fields.ts';

const done = { ok: true } as const;

export const settingsHandlers: Handlers<typeof settingsEndpoints> = {
  ...profileHandlers,

  'GET /accounts/:account/settings': async ({ context, account: { accountId } }) => {
    const { id, name, retainResponses, createdAtMs } = await accountOf(context, accountId);
    return { id, name, retain_responses: retainResponses, created_at: new Date(createdAtMs).toISOString() };
  },

  'PATCH /accounts/:account/settings': async ({ context, account: { accountId }, body, changes }) => {
    const name = body.name === undefined ? undefined : checkName(body.name);
    const retainResponses = body.retain_responses;
    await changes.commit(async (database) => {
      const terms = await updateAccount(database, accountId, { name, retainResponses });
      if (!terms) throw new ApiError('not_found', 'There is no such account, or it is not yours.');
      const fields = changedFields(terms.before, terms.after);
      return { result: null, change: fields && { action: 'account.update', subject: accountId, ...fields } };
    });
    if (retainResponses === false) void eraseResponses(context, accountId);
    return audited(done);
  },

  'GET /accounts/:account/members': ({ context, account }) => memberRows(context.database, account.accountId),

  'PATCH /accounts/:account/members/:user': async ({ account: { accountId }, params, body: { role }, changes }) => {
    await changes.commit(async (database) => {
      const before = roleBefore(await changeMember(database, { accountId, userId: params.user, role }));
      const change = { action: 'member.update', subject: params.user, before: { role: before }, after: { role } };
      return { result: null, change: before === role ? null : change };
    });
    return audited(done);
  },

  'DELETE /accounts/:account/members/:user': async ({ account: { accountId }, params, changes }) => {
    await changes.commit(async (database) => {
      const before = roleBefore(await changeMember(database, { accountId, userId: params.user, role: null }));
      return { result: null, change: { action: 'member.remove', subject: params.user, before: { role: before }, after: null } };
    });
    return audited(done);
  },

  'POST /accounts/:account/leave': async ({ account: { accountId }, session: { userId }, changes }) => {
    await changes.commit(async (database) => {
      const before = roleBefore(await changeMember(database, { accountId, userId, role: null }));
      return { result: null, change: { action: 'member.leave', subject: userId, before: { role: before }, after: null } };
    });
    return audited(done);
  },

  'GET /accounts/:account/invitations': async ({ context: { database, gateway }, account: { accountId } }) => {
    const invitations = await listInvitations(database, accountId, gateway.clock.nowMs());
    return {
      data: invitations.map(({ id, email, role, invitedBy, createdAtMs, expiresAtMs }) => ({
        id,
        email,
        role,
        invited_by: invitedBy,
        created_at: new Date(createdAtMs).toISOString(),
        expires_at: new Date(expiresAtMs).toISOString(),
      })),
    };
  },

  'POST /accounts/:account/invitations': async ({ context, account, body, session, changes, request }) => {
    const { users } = context;
    const { accountId } = account;
    const email = checkEmail(body.email);
    const { role } = body;
    await requireProof(context, { userId: session.userId, accountId });
    if (!isAtLeast(account.role, role)) throw new ApiError('not_permitted', 'Only an owner of the account may invite owners.');
    await users.attempts.take(request.ip, { kind: 'invitation', of: `${accountId} ${email}` });
    return inviteTo({ context, changes }, { accountId, email, role, session, inviterRole: account.role });
  },

  'DELETE /accounts/:account/invitations/:invitation': async ({
    account: { accountId },
    params: { invitation: id },
    changes,
  }) => {
    await changes.commit(async (database) => {
      const before = await withdrawInvitation(database, { accountId, id });
      if (!before) throw new ApiError('not_found', 'There is no such invitation, or it was accepted.');
      return { result: null, change: { action: 'invitation.withdraw', subject: id, before, after: null } };
    });
    return audited(done);
  },
};

type NewInvitation = {
  readonly accountId: string;
  /** Checked. */
  readonly email: string;
  readonly role: Role;
  readonly session: Session;
  /** Left out: an operator invites. */
  readonly inviterRole?: Role;
};

/**
 * Sends a link where there is a mail server; in any case whoever invites is shown another one, which proves nothing about the address.
 * Throws ApiError 403, 404, 409.
 */
export async function inviteTo(
  { context, changes }: { readonly context: ServerContext; readonly changes: AuditedChanges },
  { accountId, email, role, session, inviterRole }: NewInvitation,
): Promise<Changed<ShownInvitation>> {
  const { users, gateway } = context;
  const { name: accountName } = await accountOf(context, accountId);
  const members = await listMembers(context.database, accountId);
  if (members.some((member) => member.email === email)) {
    throw new ApiError('conflict', 'This e-mail address is a member already.', { param: 'email' });
  }
  const invitation = { accountId, email, role, invitedBy: session.userId, inviterRole, mailed: users.mailer !== null };
  const { id, token, mailedToken } = await changes.commit(async (database) => {
    const result = await invite(database, invitation, gateway.clock.nowMs());
    if (!result) throw new ApiError('not_permitted', 'Your role in the account has changed. Reload the page.');
    return {
      result,
      change: { action: 'invitation.create', subject: result.id, accountId, before: null, after: { email, role } },
    };
  });
  if (mailedToken !== null) {
    const link = linkTo(context, '/invitation', mailedToken);
    users.mailer?.sendLater({ to: email, ...invitationMail({ accountName, invitedBy: session.name, role, link }) });
  }
  return audited({ id, link: linkTo(context, '/invitation', token), mailed: mailedToken !== null });
}

async function accountOf({ database }: ServerContext, accountId: string) {
  const [account] = await findAccounts(database, [accountId]);
  if (!account) throw new ApiError('not_found', 'There is no such account, or it is not yours.');
  return account;
}

/** Nothing of it is served any more: erasing it takes as long as it takes. */
async function eraseResponses({ database, gateway }: ServerContext, accountId: string): Promise<void> {
  try {
    await removePurgedOf(database, accountId);
    await dropBodies(database, accountId);
  } catch (err) {
    gateway.log.error({ err, account_id: accountId }, 'the answers kept of an account could not be erased');
  }
}

function roleBefore(change: MemberChange) {
  switch (change.kind) {
    case 'changed':
      return change.before;
    case 'no-such-member':
      throw new ApiError('not_found', 'There is no such member in the account.');
    case 'last-owner':
      throw new ApiError('conflict', 'An account always has an owner. Make somebody else owner first.');
  }
}
