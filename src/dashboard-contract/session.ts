// The signed-in user, and what this installation offers: the dashboard's first request.
import type { Role } from './common.ts';
import { endpoint } from './endpoint.ts';

export type SessionInfo = {
  /** null: nobody is signed in. */
  readonly user: {
    readonly id: string;
    readonly name: string;
    readonly email: string;
    readonly email_verified: boolean;
    readonly is_operator: boolean;
    readonly second_factor: boolean;
  } | null;
  /** In the order in which the user came to them. */
  readonly accounts: readonly {
    readonly id: string;
    readonly name: string;
    readonly role: Role;
    readonly frozen: boolean;
  }[];
  readonly features: {
    readonly signup_open: boolean;
    /** True when e-mails can be sent. */
    readonly smtp: boolean;
    /** The display name of the single sign-on provider; null when there is none. */
    readonly oidc_name: string | null;
    /** True when accounts can be topped up by card. */
    readonly stripe: boolean;
    readonly test_mode: boolean;
    /** The name in response headers: `X-<name>-Cost-Micros`. */
    readonly service_name: string;
    /** Where clients reach the API, without a slash at its end. */
    readonly public_url: string;
  };
};

export const sessionEndpoints = {
  'GET /session': endpoint<SessionInfo>()({ access: 'public' }),
};
