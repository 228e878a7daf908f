// The users of the dashboard, and the members of accounts.
import { Type } from 'typebox';
import { closed, Done, RoleName } from '../dashboard-contract/common.ts';
import { AccountMember, OperatorUser } from '../dashboard-contract/operator-users.ts';
import { NewInvitation, PendingInvitation } from '../dashboard-contract/settings.ts';
import { page, PageQuery, Search } from './common.ts';
import { adminEndpoint } from './endpoint.ts';

export const usersEndpoints = {
  'GET /users': adminEndpoint({
    scope: 'users:read',
    summary: 'List users',
    note: 'Newest first. `search`: a part of the name or the e-mail address, or an id.',
    query: Type.Object({ ...PageQuery, search: Search }),
    output: page(OperatorUser),
  }),
  'POST /users/:user/reset-link': adminEndpoint({
    scope: 'users:write',
    summary: 'Make a link for a user’s new password',
    note: 'To be handed over. It works once, for 24 hours. An operator gets none: 403.',
    idempotency: 'optional',
    output: closed({ link: Type.String() }),
  }),
  'GET /accounts/:account/members': adminEndpoint({
    scope: 'users:read',
    summary: 'List the members of an account',
    note: 'In the order of their ids.',
    query: Type.Object(PageQuery),
    output: page(AccountMember),
  }),
  'PATCH /accounts/:account/members/:user': adminEndpoint({
    scope: 'users:write',
    summary: 'Change the role of a member',
    note: '409: an account needs an owner.',
    body: closed({ role: RoleName }),
    output: Done,
  }),
  'DELETE /accounts/:account/members/:user': adminEndpoint({
    scope: 'users:write',
    summary: 'Remove a member',
    note: '409: an account needs an owner.',
    output: Done,
  }),
  'GET /accounts/:account/invitations': adminEndpoint({
    scope: 'users:read',
    summary: 'List the open invitations of an account',
    note: 'Oldest first.',
    query: Type.Object(PageQuery),
    output: page(PendingInvitation),
  }),
  'POST /accounts/:account/invitations': adminEndpoint({
    scope: 'users:write',
    summary: 'Invite somebody to an account',
    note: '`link`: to be handed over. `mailed`: another one is sent to the address. If the mail server fails, repeat the request under its `Idempotency-Key` after a minute: only the mail is sent again. 429: too many invitations of this address.',
    idempotency: 'optional',
    body: closed({ email: Type.String({ maxLength: 254 }), role: RoleName }),
    output: NewInvitation,
  }),
  'DELETE /accounts/:account/invitations/:invitation': adminEndpoint({
    scope: 'users:write',
    summary: 'Withdraw an invitation',
    output: Done,
  }),
};
