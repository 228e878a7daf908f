// Shapes that several areas of the dashboard's API share.
import { Type, type Static, type TProperties, type TSchema } from 'typebox';
import { modes } from '../canonical/mode.ts';

export const Mode = Type.Enum([...modes]);
export type Mode = Static<typeof Mode>;

/** Roles in an account, in rising order of rights. */
export const RoleName = Type.Enum(['viewer', 'member', 'admin', 'owner']);

/** A code of the authenticator app, or a backup code. */
export const SecondFactorCode = {
  code: Type.String({ maxLength: 50 }),
  kind: Type.Optional(Type.Enum(['totp', 'backup'])),
};

/** Bytes in base64url, as browsers write them in the JSON of WebAuthn. */
export const Bytes = Type.String({ maxLength: 20_000, pattern: '^[A-Za-z0-9_-]*$' });

/** Paging of lists that grow. */
export const PageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  cursor: Type.Optional(Type.String()),
};

/** An object of an answer, which has no other fields. */
export function closed<Fields extends TProperties>(fields: Fields) {
  return Type.Object(fields, { additionalProperties: false });
}

export function orNull<Schema extends TSchema>(schema: Schema, description?: string) {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
}

/** Newest first. Pass `next_cursor` to the next call; null on the last page. */
export function page<Row extends TSchema>(row: Row) {
  return closed({ data: Type.Array(row), next_cursor: orNull(Type.String()) });
}

export type Page<Row> = { readonly data: readonly Row[]; readonly next_cursor: string | null };

/** The answer of an action without a result. */
export const Done = closed({ ok: Type.Literal(true) });
