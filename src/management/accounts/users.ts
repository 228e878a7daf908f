// All users, and the help that operators can give them.
import { ApiError } from '../../canonical/errors.ts';
import { searchUsers } from '../../domain/users/search-users.ts';
import { createResetLink } from '../changes/users.ts';
import type { usersEndpoints } from '../contract/users.ts';
import type { Handlers } from '../handlers.ts';
import { linkTo } from '../sign-in/links.ts';

export const usersHandlers: Handlers<typeof usersEndpoints> = {
  'GET /operator/users': async ({ context, query, page }) => {
    const { users, next } = await searchUsers(context.database.read, {
      text: query.search,
      ...page,
    });
    return { rows: users, next };
  },

  'POST /operator/users/:user/reset-link': ({ params, session, once }) =>
    once.inTransaction(async ({ context, changes }) => {
      const { user, token } = await createResetLink(changes, { id: params.user });
      // Rolls the link back: it signs its holder in as an operator, who may do more than an admin
      // key.
      if (!session && user.isOperator)
        throw new ApiError('not_permitted', 'An admin key cannot make a link for an operator.');
      return { link: linkTo(context, '/reset-password', token) };
    }),
};
