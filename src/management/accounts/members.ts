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
import type { Role } from '../../db/schema.ts';
import type { Mail } from '../../domain/users/mail.ts';
import { invitationMail } from '../../domain/users/messages.ts';
import type { ManagementContext } from '../context.ts';
import { linkTo } from '../sign-in/links.ts';
import type { Once, Scope } from '../once.ts';

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
    return invite(call, { accountId, email, role, by, inviterRole: account?.role });
  },

  'DELETE /accounts/:account/invitations/:invitation': ({ params, changes }) =>
    withdrawInvitation(changes, { accountId: params.account, id: params.invitation }),
};

type MemberParams = { readonly account: string; readonly user: string };

function memberOf({ account, user }: MemberParams) {
  return { accountId: account, userId: user };
}

/** A repeated request sends no second mail while the first is probably under way. */
const sendAgainAfterMs = 60_000;

type InviteCall = { readonly context: ManagementContext; readonly once: Once };

type Order = {
  readonly accountId: string;
  /** Already checked. */
  readonly email: string;
  readonly role: Role;
  /** `userId`: null when no user invites. `name`: as the e-mail shows it. */
  readonly by: { readonly userId: string | null; readonly name: string };
  /** Absent when an operator invites. */
  readonly inviterRole?: Role;
};

type Kept = {
  readonly shown: NewInvitation;
  /** null: the mail server has it, or there is none to send. */
  readonly unsent: { readonly mail: Mail; readonly triedAtMs: number } | null;
};

/**
 * Invites somebody. The mail is sent after the commit, so a crash or a failing mail server leaves an
 * invitation without its mail; a request that is repeated under its Idempotency-Key then sends it.
 * Throws ApiError 403, 404, 409, 422.
 */
async function invite(call: InviteCall, order: Order): Promise<NewInvitation> {
  const { once } = call;
  const kept = await once.inTransaction<Kept>((scope) => makeInvitation(scope, order));
  if (once.isRepeated) await sendAgain(call, order.accountId, kept);
  else send(call, kept);
  return kept.shown;
}

/** The inviter is shown another link than is mailed, which proves nothing about the address. */
async function makeInvitation({ context, changes }: Scope, order: Order): Promise<Kept> {
  const { accountId, email, role, by, inviterRole } = order;
  const mailed = context.users.mailer !== null;
  const invitation = { accountId, email, role, invitedBy: by.userId, inviterRole, mailed };
  const { id, accountName, token, mailedToken } = await inviteMember(changes, invitation);
  const shown = { id, link: linkTo(context, '/invitation', token), mailed: mailedToken !== null };
  if (mailedToken === null) return { shown, unsent: null };
  const link = linkTo(context, '/invitation', mailedToken);
  const text = invitationMail({ accountName, invitedBy: by.name, role, link });
  const triedAtMs = changes.clock.nowMs();
  return { shown, unsent: { mail: { to: email, ...text }, triedAtMs } };
}

async function sendAgain(call: InviteCall, accountId: string, kept: Kept): Promise<void> {
  const { context, once } = call;
  const nowMs = context.gateway.clock.nowMs();
  if (!kept.unsent || nowMs < kept.unsent.triedAtMs + sendAgainAfterMs) return;
  const open = await listInvitations(context.database.read, accountId, nowMs);
  if (!open.some(({ id }) => id === kept.shown.id)) return;
  const tried = { ...kept, unsent: { ...kept.unsent, triedAtMs: nowMs } };
  await once.keepInstead(tried);
  send(call, tried);
}

/** Does not wait: a mail server can take seconds. */
function send({ context, once }: InviteCall, { shown, unsent }: Kept): void {
  const { users, gateway } = context;
  if (!users.mailer || !unsent) return;
  users.mailer
    .send(unsent.mail)
    .then(() => once.keepInstead({ shown, unsent: null }))
    .catch((err: unknown) =>
      gateway.log.error({ err, invitationId: shown.id }, 'the mail of an invitation was not sent'),
    );
}
