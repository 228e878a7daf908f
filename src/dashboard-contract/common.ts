// Shapes that several areas of the dashboard's API share.
import { Type, type Static } from 'typebox';

/** Each account has a live and a test ledger, with their own keys. */
export const Mode = Type.Enum(['live', 'test']);
export type Mode = Static<typeof Mode>;

/** Roles in an account, in rising order of rights. */
export const RoleName = Type.Enum(['member', 'admin', 'owner']);
export type Role = Static<typeof RoleName>;

/** A code of the authenticator app, or a backup code. */
export const SecondFactorCode = {
  code: Type.String({ maxLength: 50 }),
  kind: Type.Optional(Type.Enum(['totp', 'backup'])),
};

/** Paging of lists that grow. */
export const PageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  cursor: Type.Optional(Type.String()),
};

/** Newest first. Pass `next_cursor` to the next call; null on the last page. */
export type Page<Row> = { readonly data: readonly Row[]; readonly next_cursor: string | null };

/** The answer of an action without a result. */
export type Done = { readonly ok: true };
