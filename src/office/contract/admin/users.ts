// The users of the dashboard, and the members of accounts.
import { Type } from 'typebox';
import { Budget, Most } from '../budgets.ts';
import { closed, Done, RoleName } from '../common.ts';
import { OperatorUser } from '../operator-users.ts';
import { AccountMember, NewInvitation, PendingInvitation } from '../settings.ts';
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
  'GET /accounts/:account/budgets': adminEndpoint({
    scope: 'users:read',
    summary: 'List the budgets of members',
    note: 'In the order of the users’ ids, with what their live keys have spent. A budget stays when its user leaves, because the keys stay.',
    query: Type.Object(PageQuery),
    output: page(Budget),
  }),
  'PATCH /accounts/:account/members/:user/budget': adminEndpoint({
    scope: 'users:write',
    summary: 'Set or remove the budget of a member',
    note: 'All keys of the member share it: live keys and test keys separately. A field that is left out stays as it is; null clears it, and a budget without fields is removed.',
    body: closed({ daily_micros: Type.Optional(Most), monthly_micros: Type.Optional(Most) }),
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
