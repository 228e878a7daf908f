// All users, and the help that operators can give them.
import { ApiError } from '../canonical/errors.ts';
import type { operatorUsersEndpoints } from './contract/operator-users.ts';
import { createResetLink } from './changes/users.ts';
import { type FoundUser, searchUsers } from '../domain/users/search-users.ts';
import { audited, type Handlers } from './handlers.ts';
import { linkTo } from './links.ts';
import { invitationRows, inviteTo, memberRows, withdrawOrThrow } from './settings.ts';
import { checkEmail } from './sign-in-fields.ts';

const pageRows = 50;

export const operatorUsersHandlers: Handlers<typeof operatorUsersEndpoints> = {
  'GET /operator/users': async ({ context, query }) => {
    const { search: text, limit = pageRows, cursor = null } = query;
    const { users, next } = await searchUsers(context.database, { text, limit, cursor });
    return { data: users.map(toUser), next_cursor: next };
  },

  'POST /operator/users/:user/reset-link': async ({ context, params, changes }) => {
    const reset = await createResetLink(changes, { id: params.user });
    if (!reset) throw new ApiError('not_found', 'There is no such user.');
    return audited({ link: linkTo(context, '/reset-password', reset.token) });
  },

  'GET /operator/accounts/:account/members': ({ context, params }) =>
    memberRows(context.database, params.account),

  'GET /operator/accounts/:account/invitations': async ({ context, params }) => ({
    data: await invitationRows(context, params.account),
  }),

  'POST /operator/accounts/:account/invitations': ({ context, params, body, session, changes }) =>
    inviteTo(
      { context, changes },
      { accountId: params.account, email: checkEmail(body.email), role: body.role, by: session },
    ),

  'DELETE /operator/accounts/:account/invitations/:invitation': async ({ params, changes }) => {
    await withdrawOrThrow(changes, { accountId: params.account, id: params.invitation });
    return audited({ ok: true });
  },
};

export function toUser(user: FoundUser) {
  return {
    id: user.id,
    name: user.name,
    email: user.email,
    email_verified: user.isEmailVerified,
    is_operator: user.isOperator,
    second_factor: user.hasSecondFactor,
    created_at: user.createdAt,
    accounts: user.accounts,
  };
}
