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
    oidc_name: orNull(
      Type.String(),
      'The display name of the single sign-on provider; null when there is none.',
    ),
    passkeys: Type.Boolean({
      description:
        'False when browsers refuse passkeys at the public URL: it is neither https nor localhost, or is an IP address.',
    }),
    stripe: Type.Boolean({ description: 'True when accounts can be topped up by card.' }),
    test_mode: Type.Boolean(),
    service_name: Type.String({
      description: 'The name in response headers: `X-<name>-Cost-Micros`.',
    }),
    public_url: Type.String({
      description: 'Where clients reach the API, without a slash at its end.',
    }),
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
