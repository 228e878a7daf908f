// The users of the dashboard, and the members of accounts.
import type { usersEndpoints } from '../contract/admin/users.ts';
import { ApiError } from '../../canonical/errors.ts';
import { budgetRows, setBudgetOrThrow } from '../budgets.ts';
import { linkTo } from '../links.ts';
import { toUser } from '../operator-users.ts';
import { checkMemberChange, invitationRows, memberRows, withdrawOrThrow } from '../settings.ts';
import { searchUsers } from '../../domain/users/search-users.ts';
import { removeMember, setRole } from '../changes/members.ts';
import { createResetLink } from '../changes/users.ts';
import { requireAccount } from './accounts.ts';
import type { AdminHandlers } from './handlers.ts';
import { invite } from './invite.ts';
import { pageOf, pageRows, readAfter, toPage } from './paging.ts';

const done = { ok: true } as const;

export const usersHandlers: AdminHandlers<typeof usersEndpoints> = {
  'GET /users': async ({ context, query }) => {
    const { search: text, limit = pageRows } = query;
    const cursor = readAfter(query.after);
    const { users, next } = await searchUsers(context.database, { text, limit, cursor });
    return toPage(users.map(toUser), next);
  },

  'POST /users/:user/reset-link': ({ params, once }) =>
    once.inTransaction(async ({ context, changes }) => {
      const reset = await createResetLink(changes, { id: params.user });
      if (!reset) throw new ApiError('not_found', 'There is no such user.');
      // Rolls the link back: it signs its holder in as an operator, who may do more than an admin key.
      if (reset.user.isOperator)
        throw new ApiError('not_permitted', 'An admin key cannot make a link for an operator.');
      return { link: linkTo(context, '/reset-password', reset.token) };
    }),

  'GET /accounts/:account/members': async ({ context, params, query }) => {
    await requireAccount(context.database, params.account);
    const { data } = await memberRows(context.database, params.account);
    return pageOf(data, ({ user_id }) => user_id, query);
  },

  'PATCH /accounts/:account/members/:user': async ({ params, body: { role }, changes }) => {
    const { account: accountId, user: userId } = params;
    checkMemberChange(await setRole(changes, { accountId, userId }, role));
    return done;
  },

  'DELETE /accounts/:account/members/:user': async ({ params, changes }) => {
    const { account: accountId, user: userId } = params;
    checkMemberChange(await removeMember(changes, { accountId, userId }));
    return done;
  },

  'GET /accounts/:account/budgets': async ({ context, params, query }) => {
    await requireAccount(context.database, params.account);
    const rows = await budgetRows(context, params.account);
    return pageOf(rows, ({ user_id }) => user_id, query);
  },

  'PATCH /accounts/:account/members/:user/budget': async ({ params, body, changes }) => {
    await setBudgetOrThrow(changes, { accountId: params.account, userId: params.user }, body);
    return done;
  },

  'GET /accounts/:account/invitations': async ({ context, params, query }) => {
    await requireAccount(context.database, params.account);
    const rows = await invitationRows(context, params.account);
    return pageOf(rows, ({ id }) => id, query);
  },

  'POST /accounts/:account/invitations': ({ params: { account: accountId }, body, ...call }) =>
    invite(call, { accountId, email: body.email, role: body.role }),

  'DELETE /accounts/:account/invitations/:invitation': async ({ params, changes }) => {
    await withdrawOrThrow(changes, { accountId: params.account, id: params.invitation });
    return done;
  },
};
