// An account's own settings: its name, what it keeps, its members and who is invited.
import { findAccounts, updateAccount } from '../../accounts/manage-accounts.ts';
import { changedFields } from '../../audit/changed-fields.ts';
import { removePurgedOf } from '../../cache/purged-accounts.ts';
import { ApiError } from '../../canonical/errors.ts';
import type { settingsEndpoints } from '../../dashboard-contract/settings.ts';
import type { Role } from '../../db/schema.ts';
import { dropBodies } from '../../idempotency/purge.ts';
import { invite, listInvitations, withdrawInvitation } from '../../users/invitations.ts';
import { changeMember, listMembers, type MemberChange } from '../../users/members.ts';
import { invitationMail } from '../../users/messages.ts';
import type { Session } from '../../users/session.ts';
import type { ServerContext } from '../context.ts';
import { isAtLeast } from './access.ts';
import { changed, type Handlers } from './handlers.ts';
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

  'PATCH /accounts/:account/settings': async ({ context, account: { accountId }, body }) => {
    const name = body.name === undefined ? undefined : checkName(body.name);
    const retainResponses = body.retain_responses;
    const terms = await updateAccount(context.database, accountId, { name, retainResponses });
    if (!terms) throw new ApiError('not_found', 'There is no such account, or it is not yours.');
    if (retainResponses === false) void eraseResponses(context, accountId);
    const fields = changedFields(terms.before, terms.after);
    return changed(done, fields && { action: 'account.update', subject: accountId, ...fields });
  },

  'GET /accounts/:account/members': ({ context, account }) => memberRows(context.database, account.accountId),

  'PATCH /accounts/:account/members/:user': async ({ context: { database }, account: { accountId }, params, body: { role } }) => {
    const before = roleBefore(await changeMember(database, { accountId, userId: params.user, role }));
    const change = { action: 'member.update', subject: params.user, before: { role: before }, after: { role } };
    return changed(done, before === role ? null : change);
  },

  'DELETE /accounts/:account/members/:user': async ({ context: { database }, account: { accountId }, params }) => {
    const before = roleBefore(await changeMember(database, { accountId, userId: params.user, role: null }));
    return changed(done, { action: 'member.remove', subject: params.user, before: { role: before }, after: null });
  },

  'POST /accounts/:account/leave': async ({ context: { database }, account: { accountId }, session }) => {
    const before = roleBefore(await changeMember(database, { accountId, userId: session.userId, role: null }));
    return changed(done, { action: 'member.leave', subject: session.userId, before: { role: before }, after: null });
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

  'POST /accounts/:account/invitations': async ({ context, account, body, session, request }) => {
    const { users } = context;
    const { accountId } = account;
    const email = checkEmail(body.email);
    const { role } = body;
    if (!isAtLeast(account.role, role)) throw new ApiError('not_permitted', 'Only an owner of the account may invite owners.');
    await users.attempts.take(request.ip, { kind: 'invitation', of: `${accountId} ${email}` });
    return inviteTo(context, { accountId, email, role, session });
  },

  'DELETE /accounts/:account/invitations/:invitation': async ({ context: { database }, account: { accountId }, params }) => {
    const withdrawn = await withdrawInvitation(database, { accountId, id: params.invitation });
    if (!withdrawn) throw new ApiError('not_found', 'There is no such invitation, or it was accepted.');
    return changed(done, { action: 'invitation.withdraw', subject: params.invitation, before: withdrawn, after: null });
  },
};

type NewInvitation = {
  readonly accountId: string;
  /** Checked. */
  readonly email: string;
  readonly role: Role;
  readonly session: Session;
};

/** Sends the link where there is a mail server; in any case whoever invites gets it, too. Throws ApiError 404, 409. */
export async function inviteTo(context: ServerContext, { accountId, email, role, session }: NewInvitation) {
  const { database, users } = context;
  const { name: accountName } = await accountOf(context, accountId);
  const members = await listMembers(database, accountId);
  if (members.some((member) => member.email === email)) {
    throw new ApiError('conflict', 'This e-mail address is a member already.', { param: 'email' });
  }
  const mailed = users.mailer !== null;
  const { id, token } = await invite(
    database,
    { accountId, email, role, invitedBy: session.userId, mailed },
    context.gateway.clock.nowMs(),
  );
  const link = linkTo(context, '/invitation', token);
  users.mailer?.sendLater({ to: email, ...invitationMail({ accountName, invitedBy: session.name, role, link }) });
  return changed(
    { id, link, mailed },
    { action: 'invitation.create', subject: id, accountId, before: null, after: { email, role } },
  );
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
