// All users, and how operators help them.
import { Type } from 'typebox';
import { closed, RoleName, Search } from './common.ts';
import { endpoint } from './endpoint.ts';

export const OperatorUser = closed({
  id: Type.String(),
  name: Type.String(),
  email: Type.String(),
  email_verified: Type.Boolean(),
  is_operator: Type.Boolean(),
  second_factor: Type.Boolean(),
  created_at: Type.String(),
  accounts: Type.Array(closed({ id: Type.String(), name: Type.String(), role: RoleName })),
});

export const usersEndpoints = {
  'GET /operator/users': endpoint({
    access: 'operator',
    scope: 'users:read',
    commands: ['users list'],
    summary: 'List users',
    note: 'Newest first. `search`: a part of the name or the e-mail address, or an id.',
    query: Type.Object({ search: Search }),
    page: OperatorUser,
  }),
  'POST /operator/users/:user/reset-link': endpoint({
    access: 'operator',
    scope: 'users:write',
    confirmed: true,
    idempotency: 'optional',
    commands: ['users reset-password'],
    summary: 'Make a link for a user’s new password',
    note: 'To be handed over. It works once, for 24 hours. With an admin key, an operator gets none: 403.',
    output: closed({ link: Type.String() }),
  }),
};
