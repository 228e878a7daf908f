// The keys of all accounts. Their owners manage them; operators can stop them.
import { Type } from 'typebox';
import { closed, page, Mode, PageQuery } from './common.ts';
import { endpoint, type Output } from './endpoint.ts';
import { Key, KeyState } from './keys.ts';

export const OperatorKey = closed({
  ...Key.properties,
  account_id: Type.String(),
  account_name: Type.String(),
});
export type OperatorKey = Output<typeof OperatorKey>;

export const operatorKeysEndpoints = {
  'GET /operator/keys': endpoint({
    access: 'operator',
    summary: 'List the keys of all accounts',
    note: 'Newest first. `search`: a part of the name or the hint, or an id.',
    query: Type.Object({
      ...PageQuery,
      search: Type.Optional(Type.String()),
      account: Type.Optional(Type.String()),
      mode: Type.Optional(Mode),
      state: Type.Optional(Type.Array(KeyState)),
    }),
    output: page(OperatorKey),
  }),
  'POST /operator/keys/:key/disable': endpoint({
    access: 'operator',
    summary: 'Disable any key',
    output: OperatorKey,
  }),
  'POST /operator/keys/:key/enable': endpoint({
    access: 'operator',
    summary: 'Enable any key',
    output: OperatorKey,
  }),
  'POST /operator/keys/:key/revoke': endpoint({
    access: 'operator',
    summary: 'Revoke any key',
    note: 'For good.',
    output: OperatorKey,
  }),
};
