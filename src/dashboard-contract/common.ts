// What several areas of the dashboard's API share.
import { Type, type Static } from 'typebox';

/** Each account has a live and a test ledger, each with keys of its own. */
export const Mode = Type.Enum(['live', 'test']);
export type Mode = Static<typeof Mode>;

/** In an account: each may do what the one before may. */
export const RoleName = Type.Enum(['member', 'admin', 'owner']);
export type Role = Static<typeof RoleName>;

/** A code of the app, or a backup code. */
export const SecondFactorCode = {
  code: Type.String({ maxLength: 50 }),
  kind: Type.Optional(Type.Enum(['totp', 'backup'])),
};

/** For lists that grow. */
export const PageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  cursor: Type.Optional(Type.String()),
};

/** Newest first. `next_cursor` goes into the next call; null on the last page. */
export type Page<Row> = { readonly data: readonly Row[]; readonly next_cursor: string | null };

/** Nothing is said but that it was done. */
export type Done = { readonly ok: true };
