// The members of an account, their budgets, and invitations.
import { ApiError } from '../../canonical/errors.ts';
import { ledgerIdOf } from '../../domain/ledger/commands.ts';
import { readMemberSpending } from '../../domain/ledger/reports/spending.ts';
import { readBudgets } from '../../domain/users/budgets.ts';
import { listInvitations } from '../../domain/users/invitations.ts';
import { listMembers } from '../../domain/users/members.ts';
import { micros } from '../../lib/money.ts';
import { isAtLeast, requireProof, requireWithinBudget } from '../access.ts';
import { setBudget, changeMembership, withdrawInvitation } from '../changes/members.ts';
import type { membersEndpoints } from '../contract/members.ts';
import type { Caller, Handlers } from '../handlers.ts';
import { invite } from './invite.ts';
import { ifGiven, spendOf } from './keys.ts';
import { checkEmail } from '../sign-in/sign-in-fields.ts';

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

  'PATCH /accounts/:account/members/:user/budget': changeBudget,
  'PATCH /admin/v1/accounts/:account/members/:user/budget': changeBudget,

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
    return invite(call, { accountId, email, role, by, inviterRole: account?.role });
  },

  'DELETE /accounts/:account/invitations/:invitation': ({ params, changes }) =>
    withdrawInvitation(changes, { accountId: params.account, id: params.invitation }),
};

type MemberParams = { readonly account: string; readonly user: string };

function memberOf({ account, user }: MemberParams) {
  return { accountId: account, userId: user };
}

type BudgetCall = Pick<Caller, 'changes'> & {
  readonly params: MemberParams;
  readonly body: { readonly daily_micros?: number | null; readonly monthly_micros?: number | null };
};

function changeBudget({ params, body, changes }: BudgetCall): Promise<void> {
  const { daily_micros: daily, monthly_micros: monthly } = body;
  const terms = { daily_micros: ifGiven(daily, micros), monthly_micros: ifGiven(monthly, micros) };
  return setBudget(changes, memberOf(params), terms);
}
