// All users, and how operators help them.
import { Type } from 'typebox';
import { PageQuery, RoleName, type Page, type Role } from './common.ts';
import { endpoint } from './endpoint.ts';

type OperatorUser = {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly email_verified: boolean;
  readonly is_operator: boolean;
  readonly second_factor: boolean;
  readonly created_at: string;
  readonly accounts: readonly { readonly id: string; readonly name: string; readonly role: Role }[];
};

type AccountMember = {
  readonly user_id: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly second_factor: boolean;
  readonly joined_at: string;
};

export const operatorUsersEndpoints = {
  /** Newest first. `search`: a part of the name or the e-mail address, or an id. */
  'GET /operator/users': endpoint<Page<OperatorUser>>()({
    access: 'operator',
    query: Type.Object({ ...PageQuery, search: Type.Optional(Type.String()) }),
  }),
  /** A link for a new password, to be handed over. It works once, for 24 hours. */
  'POST /operator/users/:user/reset-link': endpoint<{ readonly link: string }>()({
    access: 'operator',
  }),
  'GET /operator/accounts/:account/members': endpoint<{
    readonly data: readonly AccountMember[];
  }>()({ access: 'operator' }),
  /** `link`: to be handed over. `mailed`: another one was sent to the address. */
  'POST /operator/accounts/:account/invitations': endpoint<{
    readonly id: string;
    readonly link: string;
    readonly mailed: boolean;
  }>()({
    access: 'operator',
    body: Type.Object({ email: Type.String({ maxLength: 254 }), role: RoleName }),
  }),
};
