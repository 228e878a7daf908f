// The signed-in user, and what this installation offers: the dashboard's first request.
import { Type } from 'typebox';
import { closed, orNull, RoleName } from './common.ts';
import { endpoint, type Output } from './endpoint.ts';

export const SessionInfo = closed({
  user: orNull(
    closed({
      id: Type.String(),
      name: Type.String(),
      email: Type.String(),
      email_verified: Type.Boolean(),
      is_operator: Type.Boolean(),
      second_factor: Type.Boolean(),
    }),
    'null: nobody is signed in.',
  ),
  accounts: Type.Array(
    closed({ id: Type.String(), name: Type.String(), role: RoleName, frozen: Type.Boolean() }),
    { description: 'In the order in which the user came to them.' },
  ),
  features: closed({
    signup_open: Type.Boolean(),
    smtp: Type.Boolean({ description: 'True when e-mails can be sent.' }),
    oidc_name: orNull(Type.String()),
    passkeys: Type.Boolean(),
    stripe: Type.Boolean({ description: 'True when accounts can be topped up by card.' }),
    test_mode: Type.Boolean(),
    service_name: Type.String(),
    public_url: Type.String(),
  }),
});
export type SessionInfo = Output<typeof SessionInfo>;

export const sessionEndpoints = {
  'GET /session': endpoint({
    access: 'public',
    summary: 'Get the signed-in user and what this gateway offers',
    output: SessionInfo,
  }),
};
