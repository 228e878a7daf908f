// Sign-in, sign-up, sign-out, and the links for them. The server handles cookies: no answer holds a
// session token.
import { Type } from 'typebox';
import { type Done, type Role, SecondFactorCode } from './common.ts';
import { endpoint } from './endpoint.ts';

const Email = Type.String({ maxLength: 254 });
const Password = Type.String({ maxLength: 1_000 });
const Name = Type.String({ minLength: 1, maxLength: 100 });
const Token = Type.String({ minLength: 1, maxLength: 100 });

/** The purpose of a one-time link. `email`: the user's address, when known. */
type LinkInfo = {
  readonly kind: 'first-run' | 'password-reset' | 'verify-email';
  readonly email: string | null;
};

type InvitationInfo = {
  readonly account_name: string;
  readonly role: Role;
  readonly email: string;
  /** A name; null: the operator. */
  readonly invited_by: string | null;
  /** True when the address belongs to a user, who must sign in to accept. */
  readonly is_user: boolean;
  readonly expires_at: string;
};

export const authEndpoints = {
  'POST /auth/sign-in': endpoint<{ readonly next: 'done' | 'second-factor' }>()({
    access: 'public',
    body: Type.Object({ email: Email, password: Password }),
  }),
  'POST /auth/second-factor': endpoint<Done>()({
    access: 'public',
    body: Type.Object(SecondFactorCode),
  }),
  'POST /auth/sign-out': endpoint<Done>()({ access: 'public' }),
  /** `check-email`: with a mail server, whether or not the address is known. */
  'POST /auth/sign-up': endpoint<{ readonly next: 'done' | 'check-email' }>()({
    access: 'public',
    body: Type.Object({ name: Name, email: Email, password: Password }),
  }),
  'POST /auth/link': endpoint<LinkInfo>()({
    access: 'public',
    body: Type.Object({ token: Token }),
  }),
  'POST /auth/first-run': endpoint<Done>()({
    access: 'public',
    body: Type.Object({ token: Token, name: Name, email: Email, password: Password }),
  }),
  /** The same answer whoever asks. */
  'POST /auth/password-reset': endpoint<Done>()({
    access: 'public',
    body: Type.Object({ email: Email }),
  }),
  'POST /auth/password-reset/complete': endpoint<Done>()({
    access: 'public',
    body: Type.Object({ token: Token, password: Password }),
  }),
  /** By the user whose address it is. */
  'POST /auth/verify-email': endpoint<{ readonly email: string }>()({
    access: 'user',
    body: Type.Object({ token: Token }),
  }),
  'POST /auth/verify-email/send': endpoint<Done>()({ access: 'user' }),
  'POST /auth/invitation': endpoint<InvitationInfo>()({
    access: 'public',
    body: Type.Object({ token: Token }),
  }),
  /** `name` and `password`: of somebody who becomes a user by it. */
  'POST /auth/invitation/accept': endpoint<{ readonly account_id: string }>()({
    access: 'public',
    body: Type.Object({
      token: Token,
      name: Type.Optional(Name),
      password: Type.Optional(Password),
    }),
  }),
  /** Where to send the browser; it comes back to `next`, or to `/sign-in?error=`. */
  'POST /auth/oidc': endpoint<{ readonly url: string }>()({
    access: 'public',
    body: Type.Object({ next: Type.Optional(Type.String({ maxLength: 1_000 })) }),
  }),
};
