// Everybody who can sign in, and how operators help them.
import { ApiError } from '../../canonical/errors.ts';
import type { operatorUsersEndpoints } from '../../dashboard-contract/operator-users.ts';
import { createResetLink } from '../../users/password-reset.ts';
import { searchUsers } from '../../users/search-users.ts';
import { findUser } from '../../users/user-records.ts';
import { audited, type Handlers } from './handlers.ts';
import { memberRows } from './member-rows.ts';
import { linkTo } from './links.ts';
import { inviteTo } from './settings.ts';
import { checkEmail } from './sign-in-fields.ts';

const pageRows = 50;

export const operatorUsersHandlers: Handlers<typeof operatorUsersEndpoints> = {
  'GET /operator/users': async ({ context, query }) => {
    const { search: text, limit = pageRows, cursor = null } = query;
    const { users, next } = await searchUsers(context.database, { text, limit, cursor });
    const data = users.map(({ id, name, email, isEmailVerified, isOperator, hasSecondFactor, createdAt, accounts }) => ({
      id,
      name,
      email,
      email_verified: isEmailVerified,
      is_operator: isOperator,
      second_factor: hasSecondFactor,
      created_at: createdAt,
      accounts,
    }));
    return { data, next_cursor: next };
  },

  'POST /operator/users/:user/reset-link': async ({ context, params, changes }) => {
    const user = await findUser(context.database, { id: params.user });
    if (!user) throw new ApiError('not_found', 'There is no such user.');
    const token = await changes.commit(async (database) => ({
      result: await createResetLink(database, { user, mailed: false }, context.gateway.clock.nowMs()),
      change: { action: 'user.reset-link', subject: user.id, before: null, after: { email: user.email } },
    }));
    return audited({ link: linkTo(context, '/reset-password', token) });
  },

  'GET /operator/accounts/:account/members': ({ context, params }) => memberRows(context.database, params.account),

  'POST /operator/accounts/:account/invitations': ({ context, params, body, session, changes }) =>
    inviteTo({ context, changes }, { accountId: params.account, email: checkEmail(body.email), role: body.role, session }),
};
