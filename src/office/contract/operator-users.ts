// All users, and how operators help them.
import { Type } from 'typebox';
import { closed, Done, page, RoleName, PageQuery } from './common.ts';
import { endpoint } from './endpoint.ts';
import { AccountMember, PendingInvitation } from './settings.ts';

export const OperatorUser = closed({
  id: Type.String(),
  name: Type.String(),
  email: Type.String(),
  email_verified: Type.Boolean(),
  is_operator: Type.Boolean(),
  second_factor: Type.Boolean(),
  created_at: Type.String(),
  accounts: Type.Array(
    closed({
      id: Type.String(),
      name: Type.String(),
      role: RoleName,
    }),
  ),
});

export const operatorUsersEndpoints = {
  'GET /operator/users': endpoint({
    access: 'operator',
    summary: 'List users',
    note: 'Newest first. `search`: a part of the name or the e-mail address, or an id.',
    query: Type.Object({ ...PageQuery, search: Type.Optional(Type.String()) }),
    output: page(OperatorUser),
  }),
  'POST /operator/users/:user/reset-link': endpoint({
    access: 'operator',
    confirmed: true,
    summary: 'Make a link for a user’s new password',
    note: 'A link for a new password, to be handed over. It works once, for 24 hours.',
    output: closed({
      link: Type.String(),
    }),
  }),
  'GET /operator/accounts/:account/members': endpoint({
    access: 'operator',
    summary: 'List an account’s members',
    output: closed({
      data: Type.Array(AccountMember),
    }),
  }),
  'GET /operator/accounts/:account/invitations': endpoint({
    access: 'operator',
    summary: 'List an account’s open invitations',
    output: closed({
      data: Type.Array(PendingInvitation),
    }),
  }),
  'POST /operator/accounts/:account/invitations': endpoint({
    access: 'operator',
    confirmed: true,
    summary: 'Invite somebody to an account',
    note: '`link`: to be handed over. `mailed`: another one was sent to the address.',
    body: Type.Object({ email: Type.String({ maxLength: 254 }), role: RoleName }),
    output: closed({
      id: Type.String(),
      link: Type.String(),
      mailed: Type.Boolean(),
    }),
  }),
  'DELETE /operator/accounts/:account/invitations/:invitation': endpoint({
    access: 'operator',
    summary: 'Withdraw an invitation',
    output: Done,
  }),
};
