// The members of an account, their budgets, and invitations.
import { ApiError } from '../../canonical/errors.ts';
import { ledgerIdOf } from '../../domain/ledger/commands.ts';
import { readMemberSpending } from '../../domain/ledger/reports/spending.ts';
import { readBudgets } from '../../domain/users/budgets.ts';
import { listInvitations } from '../../domain/users/invitations.ts';
import { listMembers } from '../../domain/users/members.ts';
import { micros } from '../../lib/money.ts';
import { isAtLeast, requireProof, requireWithinBudget } from '../access.ts';
import {
  setBudget,
  changeMembership,
  withdrawInvitation,
  inviteMember,
} from '../changes/members.ts';
import type { membersEndpoints, NewInvitation } from '../contract/members.ts';
import type { Handlers } from '../handlers.ts';
import { ifGiven, spendOf } from './keys.ts';
import { checkEmail } from '../sign-in/sign-in-fields.ts';
import type { Mail } from '../../domain/users/mail.ts';
import { invitationMail } from '../../domain/users/messages.ts';
import type { ManagementContext } from '../context.ts';
import { linkTo } from '../sign-in/links.ts';
import type { Once } from '../once.ts';

export const membersHandlers: Handlers<typeof membersEndpoints> = {
  'GET /accounts/:account/members': async ({ context, params }) => {
    const members = await listMembers(context.database.read, params.account);
    return members.map(({ userId, name, email, role, hasSecondFactor, joinedAtMs }) => ({
      user_id: userId,
      name,
      email,
      role,
      second_factor: hasSecondFactor,
      joined_at: new Date(joinedAtMs).toISOString(),
    }));
  },

  'PATCH /accounts/:account/members/:user': ({ params, body, changes }) =>
    changeMembership(changes, 'member.update', { ...memberOf(params), role: body.role }),

  'DELETE /accounts/:account/members/:user': ({ params, changes }) =>
    changeMembership(changes, 'member.remove', { ...memberOf(params), role: null }),

  'POST /accounts/:account/leave': ({ params, session: { userId }, changes }) =>
    changeMembership(changes, 'member.leave', { accountId: params.account, userId, role: null }),

  'GET /accounts/:account/budgets': async ({ context: { database, gateway }, params }) => {
    const nowMs = gateway.clock.nowMs();
    const budgets = await readBudgets(database.read, params.account);
    const ledgerId = ledgerIdOf(params.account, 'live');
    const spending = await readMemberSpending(database.read, ledgerId, nowMs);
    return [...budgets].map(([user_id, terms]) => {
      return { user_id, ...terms, ...spendOf(spending.get(user_id), { createdAtMs: 0, nowMs }) };
    });
  },

  'PATCH /accounts/:account/members/:user/budget': ({ params, body, changes }) => {
    const { daily_micros: daily, monthly_micros: monthly } = body;
    const terms = {
      daily_micros: ifGiven(daily, micros),
      monthly_micros: ifGiven(monthly, micros),
    };
    return setBudget(changes, memberOf(params), terms);
  },

  'GET /accounts/:account/invitations': async ({ context: { database, gateway }, params }) => {
    const open = await listInvitations(database.read, params.account, gateway.clock.nowMs());
    return open.map(
      ({ created_at_ms: createdAtMs, expires_at_ms: expiresAtMs, ...invitation }) => ({
        ...invitation,
        created_at: new Date(createdAtMs).toISOString(),
        expires_at: new Date(expiresAtMs).toISOString(),
      }),
    );
  },

  'POST /accounts/:account/invitations': async ({ params, body: { role, ...body }, ...call }) => {
    const { context, account, session, request } = call;
    const { users, gateway } = context;
    const accountId = params.account;
    const email = checkEmail(body.email);
    if (account && session) {
      const { userId } = session;
      await requireProof(context, { userId, accountId });
      await requireWithinBudget(context, account, { userId, keyId: null });
      if (!isAtLeast(account.role, role))
        throw new ApiError('not_permitted', 'Only an owner of the account may invite owners.');
    }
    if (account || !session)
      await users.attempts.take(request.ip, { kind: 'invitation', of: `${accountId} ${email}` });
    // The operator's mail server must not write to any number of strangers.
    if (account && users.mailer)
      await users.attempts.take(request.ip, { kind: 'account-invitations', of: accountId });
    const by = session ?? { userId: null, name: gateway.config.service.name };
    const from = { invitedBy: by.userId, inviterRole: account?.role };
    const mailed = users.mailer !== null;
    return invite(call, { accountId, email, role, ...from, mailed }, by.name);
  },

  'DELETE /accounts/:account/invitations/:invitation': ({ params, changes }) =>
    withdrawInvitation(changes, { accountId: params.account, id: params.invitation }),
};

type MemberParams = { readonly account: string; readonly user: string };

function memberOf({ account, user }: MemberParams) {
  return { accountId: account, userId: user };
}

type InviteCall = { readonly context: ManagementContext; readonly once: Once };

/**
 * Invites somebody. The mail is sent after the commit, so a crash or a failing mail server leaves an
 * invitation without its mail. `inviter`: as the mail names them. Throws ApiError 403, 404, 409, 422.
 */
async function invite(
  { context, once }: InviteCall,
  invitation: Parameters<typeof inviteMember>[1],
  inviter: string,
): Promise<NewInvitation> {
  const { email, role } = invitation;
  /** Stays empty for a repeated request, which makes no invitation. */
  const mails: Mail[] = [];
  const shown = await once.inTransaction(async ({ changes }) => {
    const { id, accountName, token, mailedToken } = await inviteMember(changes, invitation);
    // The inviter is shown another link than is mailed, which proves nothing about the address.
    if (mailedToken !== null) {
      const link = linkTo(context, '/invitation', mailedToken);
      const text = invitationMail({ accountName, invitedBy: inviter, role, link });
      mails.push({ to: email, ...text });
    }
    return { id, link: linkTo(context, '/invitation', token), mailed: mailedToken !== null };
  });
  for (const mail of mails) context.users.mailer?.sendLater(mail);
  return shown;
}
