// Sign-in, sign-up, sign-out, and the links for them. The server handles cookies: no answer holds a
// session token.
import { Type } from 'typebox';
import {
  closed,
  Done,
  Email,
  orNull,
  Password,
  RoleName,
  SecondFactorCode,
  SignedCredential,
} from './common.ts';
import { endpoint } from './endpoint.ts';

const Name = Type.String({ minLength: 1, maxLength: 100 });
const Token = Type.String({ minLength: 1, maxLength: 100 });

/** The purpose of a one-time link. `email`: the user's address, when known. */
const LinkInfo = closed({
  kind: Type.Enum(['first-run', 'password-reset', 'verify-email']),
  email: orNull(Type.String()),
});

const InvitationInfo = closed({
  account_name: Type.String(),
  role: RoleName,
  email: Type.String(),
  invited_by: orNull(Type.String(), 'A name; null: the operator.'),
  is_user: Type.Boolean(),
  expires_at: Type.String(),
});

/** The JSON form of WebAuthn's `PublicKeyCredentialRequestOptions`. */
const PasskeySignInOptions = closed({
  challenge: Type.String(),
  rpId: Type.String(),
  timeout: Type.Integer(),
  userVerification: Type.Literal('required'),
});

export const authEndpoints = {
  'POST /auth/sign-in': endpoint({
    access: 'public',
    summary: 'Sign in with e-mail address and password',
    body: Type.Object({ email: Email, password: Password }),
    output: closed({ next: Type.Enum(['done', 'second-factor']) }),
  }),
  'POST /auth/second-factor': endpoint({
    access: 'public',
    summary: 'Finish a sign-in with the second factor',
    body: Type.Object(SecondFactorCode),
    output: Done,
  }),
  'POST /auth/passkey/start': endpoint({
    access: 'public',
    summary: 'Start a sign-in with a passkey',
    note: 'Options for `navigator.credentials.get()`. Each challenge works once, in this browser, for ten minutes.',
    output: PasskeySignInOptions,
  }),
  'POST /auth/passkey': endpoint({
    access: 'public',
    summary: 'Sign in with a passkey',
    note: 'Needs neither a password nor a second factor: the device has checked its user.',
    body: Type.Object({ credential: SignedCredential }),
    output: Done,
  }),
  'POST /auth/sign-out': endpoint({ access: 'public', summary: 'Sign out', output: Done }),
  'POST /auth/sign-up': endpoint({
    access: 'public',
    summary: 'Become a user',
    note: '`check-email`: with a mail server, whether or not the address is known.',
    body: Type.Object({ name: Name, email: Email, password: Password }),
    output: closed({ next: Type.Enum(['done', 'check-email']) }),
  }),
  'POST /auth/link': endpoint({
    access: 'public',
    summary: 'Get the purpose of a one-time link',
    body: Type.Object({ token: Token }),
    output: LinkInfo,
  }),
  'POST /auth/first-run': endpoint({
    access: 'public',
    summary: 'Create the first user',
    note: '`account_name`: for the first account, which is named Default until then.',
    body: Type.Object({
      token: Token,
      name: Name,
      email: Email,
      password: Password,
      account_name: Type.Optional(Name),
    }),
    output: Done,
  }),
  'POST /auth/password-reset': endpoint({
    access: 'public',
    summary: 'Ask for a link for a new password',
    note: 'The answer does not tell whether the address has an account.',
    body: Type.Object({ email: Email }),
    output: Done,
  }),
  'POST /auth/password-reset/complete': endpoint({
    access: 'public',
    summary: 'Set a new password',
    body: Type.Object({ token: Token, password: Password }),
    output: Done,
  }),
  'POST /auth/verify-email': endpoint({
    access: 'user',
    summary: 'Confirm an e-mail address',
    note: 'By the user whose address it is.',
    body: Type.Object({ token: Token }),
    output: closed({ email: Type.String() }),
  }),
  'POST /auth/verify-email/send': endpoint({
    access: 'user',
    summary: 'Send the link that confirms the e-mail address',
    output: Done,
  }),
  'POST /auth/invitation': endpoint({
    access: 'public',
    summary: 'Get an invitation',
    body: Type.Object({ token: Token }),
    output: InvitationInfo,
  }),
  'POST /auth/invitation/accept': endpoint({
    access: 'public',
    summary: 'Accept an invitation',
    note: '`name` and `password`: of somebody who becomes a user by it.',
    body: Type.Object({
      token: Token,
      name: Type.Optional(Name),
      password: Type.Optional(Password),
    }),
    output: closed({ account_id: Type.String() }),
  }),
  'POST /auth/oidc': endpoint({
    access: 'public',
    summary: 'Start a single sign-on',
    note: 'Where to send the browser; it comes back to `next`, or to `/sign-in?error=`. `fresh`: the provider asks for the sign-in again, which confirms the next call that needs it.',
    body: Type.Object({
      next: Type.Optional(Type.String({ maxLength: 1_000 })),
      fresh: Type.Optional(Type.Boolean()),
    }),
    output: closed({ url: Type.String() }),
  }),
};
