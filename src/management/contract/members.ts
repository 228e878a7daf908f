// The members of an account, their budgets, and invitations.
import { Type } from 'typebox';
import { closed, Done, Email, orNull, RoleName } from './common.ts';
import { endpoint, type Output } from './endpoint.ts';
import { KeySpend } from './keys.ts';

export const AccountMember = closed({
  user_id: Type.String(),
  name: Type.String(),
  email: Type.String(),
  role: RoleName,
  second_factor: Type.Boolean(),
  joined_at: Type.String(),
});

export const PendingInvitation = closed({
  id: Type.String(),
  email: Type.String(),
  role: RoleName,
  invited_by: orNull(Type.String(), 'A name; null: the operator.'),
  created_at: Type.String(),
  expires_at: Type.String(),
});

/** The link is shown only once. `mailed`: a separate link was sent to the address. */
export const NewInvitation = closed({
  id: Type.String(),
  link: Type.String(),
  mailed: Type.Boolean(),
});
export type NewInvitation = Output<typeof NewInvitation>;

const Budget = closed({
  user_id: Type.String(),
  daily_micros: orNull(Type.Integer(), 'null: no budget; 0: nothing is allowed.'),
  monthly_micros: orNull(Type.Integer()),
  today: KeySpend,
  this_month: KeySpend,
});

/** At most a billion dollars; null: no budget. */
const Most = Type.Optional(orNull(Type.Integer({ minimum: 0, maximum: 1e15 })));
const Budgets = closed({ daily_micros: Most, monthly_micros: Most });

export const membersEndpoints = {
  'GET /accounts/:account/members': endpoint({
    access: 'viewer',
    operator: true,
    scope: 'users:read',
    summary: 'List the members of an account',
    note: 'With an admin key in the order of their ids.',
    list: AccountMember,
    order: 'user_id',
  }),
  'PATCH /accounts/:account/members/:user': endpoint({
    access: 'owner',
    scope: 'users:write',
    confirmed: true,
    summary: 'Change the role of a member',
    note: '409: an account needs an owner.',
    body: Type.Object({ role: RoleName }),
    output: Done,
  }),
  'DELETE /accounts/:account/members/:user': endpoint({
    access: 'owner',
    scope: 'users:write',
    summary: 'Remove a member',
    note: '409: an account needs an owner.',
    output: Done,
  }),
  'POST /accounts/:account/leave': endpoint({
    access: 'viewer',
    summary: 'Leave the account',
    output: Done,
  }),
  'GET /accounts/:account/budgets': endpoint({
    access: 'viewer',
    scope: 'users:read',
    summary: 'List the budgets of members',
    note: 'With what their live keys have spent. A budget stays when its user leaves, because the keys stay. With an admin key in the order of the users’ ids.',
    list: Budget,
    order: 'user_id',
  }),
  'PATCH /accounts/:account/members/:user/budget': endpoint({
    access: 'owner',
    scope: 'users:write',
    summary: 'Set or remove the budget of a member',
    note: 'All keys of the member share it: live keys and test keys separately. A field that is left out stays as it is; null clears it, and a budget without fields is removed.',
    body: Budgets,
    output: Done,
  }),
  'GET /accounts/:account/invitations': endpoint({
    access: 'admin',
    operator: true,
    scope: 'users:read',
    summary: 'List the open invitations of an account',
    note: 'Oldest first.',
    list: PendingInvitation,
    order: 'id',
  }),
  'POST /accounts/:account/invitations': endpoint({
    access: 'admin',
    operator: true,
    scope: 'users:write',
    confirmed: true,
    idempotency: 'optional',
    commands: ['users create-link'],
    summary: 'Invite somebody to an account',
    note: 'Only an owner, an operator or an admin key invites owners. `link`: to be handed over. `mailed`: another one is sent to the address. 429: too many invitations of this address.',
    body: Type.Object({ email: Email, role: RoleName }),
    output: NewInvitation,
  }),
  'DELETE /accounts/:account/invitations/:invitation': endpoint({
    access: 'admin',
    operator: true,
    scope: 'users:write',
    summary: 'Withdraw an invitation',
    output: Done,
  }),
};
