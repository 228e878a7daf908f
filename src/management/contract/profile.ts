// A user's own settings.
import { Type } from 'typebox';
import { Bytes, closed, Done, Email, orNull, Password } from './common.ts';
import { endpoint } from './endpoint.ts';

const Profile = closed({
  id: Type.String(),
  name: Type.String(),
  email: Type.String(),
  email_verified: Type.Boolean(),
  has_password: Type.Boolean({ description: 'false: signs in through the provider only.' }),
  second_factor: closed({ enabled: Type.Boolean(), backup_codes_left: Type.Integer() }),
});

const UserSession = closed({
  id: Type.String(),
  current: Type.Boolean({ description: 'True for the session of this request.' }),
  created_at: Type.String(),
  last_active_at: Type.String({ description: 'To the day.' }),
  expires_at: Type.String(),
  address: Type.String(),
  user_agent: Type.String(),
});

const SecondFactorStart = closed({
  uri: Type.String({ description: '`otpauth://…`, for a QR code.' }),
  secret: Type.String({ description: 'The same secret, to be typed in.' }),
  backup_codes: Type.Array(Type.String()),
});

const PasskeyName = Type.String({ minLength: 1, maxLength: 100 });

const Passkey = closed({
  id: Type.String(),
  name: Type.String(),
  host: Type.String({ description: 'The host name of the gateway when the passkey was added.' }),
  works_here: Type.Boolean({ description: 'False when the gateway has another host name now.' }),
  created_at: Type.String(),
  last_used_at: orNull(Type.String()),
});

const PasskeyAlgorithm = closed({ type: Type.Literal('public-key'), alg: Type.Integer() });
const KnownPasskey = closed({
  type: Type.Literal('public-key'),
  id: Type.String(),
  transports: Type.Array(Type.String()),
});

/** The JSON form of WebAuthn's `PublicKeyCredentialCreationOptions`. */
const NewPasskeyOptions = closed({
  challenge: Type.String(),
  rp: closed({ id: Type.String(), name: Type.String() }),
  user: closed({ id: Type.String(), name: Type.String(), displayName: Type.String() }),
  pubKeyCredParams: Type.Array(PasskeyAlgorithm),
  timeout: Type.Integer(),
  excludeCredentials: Type.Array(KnownPasskey),
  authenticatorSelection: closed({
    residentKey: Type.Literal('required'),
    requireResidentKey: Type.Boolean(),
    userVerification: Type.Literal('required'),
  }),
  attestation: Type.Literal('none'),
});

/** The JSON form of a WebAuthn credential. */
const CreatedCredential = Type.Object({
  id: Bytes,
  response: Type.Object({
    clientDataJSON: Bytes,
    attestationObject: Bytes,
    transports: Type.Optional(Type.Array(Type.String({ maxLength: 30 }), { maxItems: 10 })),
  }),
});

export const profileEndpoints = {
  'GET /profile': endpoint({ access: 'user', summary: 'Get the profile', output: Profile }),
  'PATCH /profile': endpoint({
    access: 'user',
    summary: 'Change the name',
    body: Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }) }),
    output: Done,
  }),
  'POST /profile/email': endpoint({
    access: 'user',
    confirmed: true,
    summary: 'Change the e-mail address',
    note: '`check-email`: with a mail server, the address is changed when it was proved.',
    body: Type.Object({ email: Email }),
    output: closed({ next: Type.Enum(['done', 'check-email']) }),
  }),
  'POST /profile/password': endpoint({
    access: 'user',
    summary: 'Change the password',
    note: 'All other sessions end.',
    body: Type.Object({ current_password: Password, new_password: Password }),
    output: Done,
  }),
  'GET /profile/sessions': endpoint({
    access: 'user',
    summary: 'List sessions',
    output: closed({ data: Type.Array(UserSession) }),
  }),
  'DELETE /profile/sessions/:session': endpoint({
    access: 'user',
    summary: 'End a session',
    output: Done,
  }),
  'POST /profile/sessions/revoke-others': endpoint({
    access: 'user',
    summary: 'End all other sessions',
    output: Done,
  }),
  'POST /profile/second-factor': endpoint({
    access: 'user',
    summary: 'Start to set up a second factor',
    note: 'Codes are asked for from the confirmation on.',
    body: Type.Object({ password: Password }),
    output: SecondFactorStart,
  }),
  'POST /profile/second-factor/confirm': endpoint({
    access: 'user',
    summary: 'Switch the second factor on',
    body: Type.Object({ code: Type.String({ maxLength: 50 }) }),
    output: Done,
  }),
  'POST /profile/second-factor/disable': endpoint({
    access: 'user',
    confirmed: true,
    summary: 'Switch the second factor off',
    output: Done,
  }),
  'POST /profile/second-factor/backup-codes': endpoint({
    access: 'user',
    confirmed: true,
    summary: 'Make new backup codes',
    output: closed({ backup_codes: Type.Array(Type.String()) }),
  }),
};

export const passkeysEndpoints = {
  'GET /profile/passkeys': endpoint({
    access: 'user',
    summary: 'List passkeys',
    output: closed({ data: Type.Array(Passkey) }),
  }),
  'POST /profile/passkeys/start': endpoint({
    access: 'user',
    confirmed: true,
    summary: 'Start to add a passkey',
    note: 'Options for `navigator.credentials.create()`. They work once, in this session, for ten minutes.',
    output: NewPasskeyOptions,
  }),
  'POST /profile/passkeys': endpoint({
    access: 'user',
    summary: 'Add a passkey',
    body: Type.Object({ name: PasskeyName, credential: CreatedCredential }),
    output: closed({ id: Type.String() }),
  }),
  'POST /profile/passkeys/:passkey/remove': endpoint({
    access: 'user',
    confirmed: true,
    summary: 'Remove a passkey',
    output: Done,
  }),
};
