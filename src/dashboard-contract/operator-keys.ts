// The keys of all accounts. Their owners manage them; operators can stop them.
import { Type } from 'typebox';
import { Mode, PageQuery, type Page } from './common.ts';
import { endpoint } from './endpoint.ts';
import { type Key, KeyState } from './keys.ts';

export type OperatorKey = Key & { readonly account_id: string; readonly account_name: string };

export const operatorKeysEndpoints = {
  /** Newest first. `search`: a part of the name or the hint, or an id. */
  'GET /operator/keys': endpoint<Page<OperatorKey>>()({
    access: 'operator',
    query: Type.Object({
      ...PageQuery,
      search: Type.Optional(Type.String()),
      account: Type.Optional(Type.String()),
      mode: Type.Optional(Mode),
      state: Type.Optional(Type.Array(KeyState)),
    }),
  }),
  'POST /operator/keys/:key/disable': endpoint<OperatorKey>()({ access: 'operator' }),
  'POST /operator/keys/:key/enable': endpoint<OperatorKey>()({ access: 'operator' }),
  /** For good. */
  'POST /operator/keys/:key/revoke': endpoint<OperatorKey>()({ access: 'operator' }),
};
