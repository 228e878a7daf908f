// Shapes that several files of the contract share.
import { Type, type Static, type TObject, type TObjectOptions } from 'typebox';
import { closed, optionalOrNull } from '../../lib/schema-parts.ts';
import { modes } from '../../terms/mode.ts';

export { closed, optional, optionalOrNull, orNull } from '../../lib/schema-parts.ts';

export const Mode = Type.Enum([...modes]);
export type Mode = Static<typeof Mode>;

// Filters of the admin API.
export const ModeFilter = Type.Optional(Type.Enum([...modes], { description: 'Default: live.' }));
export const AccountFilter = Type.Optional(Type.String({ maxLength: 64 }));
export const Search = Type.Optional(Type.String({ maxLength: 200 }));
export const UtcDay = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}$',
  mismatch: 'must be a UTC day, such as 2026-11-21',
});

export const Email = Type.String({ maxLength: 254 });
export const Password = Type.String({ maxLength: 1_000 });

/** A thing with the name that people know it by. */
export const Named = closed({ id: Type.String(), name: Type.String() });

/** Roles in an account, in rising order of rights. */
export const RoleName = Type.Enum(['viewer', 'member', 'admin', 'owner']);

/** A code of the authenticator app, or a backup code. */
export const SecondFactorCode = {
  code: Type.String({ maxLength: 50 }),
  kind: Type.Optional(Type.Enum(['totp', 'backup'])),
};

/** Bytes in base64url, as browsers write them in the JSON of WebAuthn. */
export const Bytes = Type.String({ maxLength: 20_000, pattern: '^[A-Za-z0-9_-]*$' });

/** The JSON form of a WebAuthn credential that has signed a challenge. */
export const SignedCredential = Type.Object({
  id: Bytes,
  response: Type.Object({
    clientDataJSON: Bytes,
    authenticatorData: Bytes,
    signature: Bytes,
    userHandle: optionalOrNull(Bytes),
  }),
});

/**
 * Fields in the body of each `confirmed` call: the password, with a code if the user has a second
 * factor, or a passkey that signed the challenge of `POST /auth/passkey/start`. All are left out
 * after a fresh sign-in at the provider (`POST /auth/oidc`).
 */
const Confirmation = {
  password: Type.Optional(Password),
  code: Type.Optional(SecondFactorCode.code),
  passkey: Type.Optional(SignedCredential),
};

export type ConfirmationFields = Static<TObject<typeof Confirmation>>;

/** `when-judged`: by the handler, once it has found the input to be right. */
export type Confirmed = true | 'when-judged';

/** Returns the schema of a call's body, with the confirmation if it needs one. */
export function bodySchemaOf({
  confirmed,
  body,
}: {
  readonly confirmed?: Confirmed;
  readonly body?: TObject;
}): TObject | undefined {
  if (!confirmed) return body;
  const { properties, additionalProperties } = (body ?? Type.Object({})) as TObject &
    TObjectOptions;
  return Type.Object({ ...properties, ...Confirmation }, { additionalProperties });
}

/** `details` of the error `confirmation_required`: how this user can confirm. */
export type ConfirmationWays = {
  readonly password: boolean;
  /** True when the password needs a code of the second factor beside it. */
  readonly code: boolean;
  readonly passkey: boolean;
  /** The name of the provider, where the user can sign in afresh; null: there is none. */
  readonly provider: string | null;
};

/** How the web app asks for a page: `cursor` is the `next_cursor` of the page before. */
export type PageFields = { limit?: number; cursor?: string };

/** The answer of an action without a result. */
export const Done = closed({ ok: Type.Literal(true) });
