// API keys of accounts.
import { Type } from 'typebox';
import { KeyOwner } from '../budgets.ts';
import { closed, Mode } from '../common.ts';
import { keyControls, keyOverlap, KeyState, Name } from '../keys.ts';
import { OperatorKey } from '../operator-keys.ts';
import { AccountFilter, page, PageQuery, Search } from './common.ts';
import { adminEndpoint } from './endpoint.ts';

const KeyWithSecret = closed({
  key: OperatorKey,
  secret: Type.String({
    description: "The key's own text. Only this answer has it, and a repeat of the request.",
  }),
});

export const keysEndpoints = {
  'GET /keys': adminEndpoint({
    scope: 'keys:read',
    summary: 'List API keys',
    note: 'Newest first. `search`: a part of the name or the hint, or an id. `state`: any of these.',
    query: Type.Object({
      ...PageQuery,
      account: AccountFilter,
      mode: Type.Optional(Mode),
      search: Search,
      state: Type.Optional(Type.Array(KeyState, { maxItems: 4 })),
    }),
    output: page(OperatorKey),
  }),
  'POST /accounts/:account/keys': adminEndpoint({
    scope: 'keys:write',
    summary: 'Create an API key',
    idempotency: 'optional',
    body: closed({
      mode: Mode,
      name: Name,
      owner_id: Type.Optional(
        Type.String({
          maxLength: 100,
          description:
            'The member to whom it belongs, and in whose budget it counts. Left out: nobody.',
        }),
      ),
      ...keyControls,
    }),
    output: KeyWithSecret,
  }),
  'GET /keys/:key': adminEndpoint({
    scope: 'keys:read',
    summary: 'Get an API key',
    output: OperatorKey,
  }),
  'PATCH /keys/:key': adminEndpoint({
    scope: 'keys:write',
    summary: 'Change an API key',
    note: 'A field that is left out stays as it is; null clears it. 409 once the key is revoked.',
    body: closed({ name: Type.Optional(Name), ...keyControls }),
    output: OperatorKey,
  }),
  'PATCH /keys/:key/owner': adminEndpoint({
    scope: 'keys:write',
    summary: 'Give an API key to a member',
    note: 'null: it belongs to nobody, and counts in no budget. Otherwise it counts in its new owner’s budget at once, with what it has spent.',
    body: KeyOwner,
    output: OperatorKey,
  }),
  'POST /keys/:key/rotate': adminEndpoint({
    scope: 'keys:write',
    summary: 'Rotate an API key',
    note: 'Gives it a new text. The one before works until the overlap ends, and shares its caps and limits. 409 once the key is revoked.',
    idempotency: 'optional',
    body: closed(keyOverlap),
    output: KeyWithSecret,
  }),
  'POST /keys/:key/disable': adminEndpoint({
    scope: 'keys:write',
    summary: 'Disable an API key',
    output: OperatorKey,
  }),
  'POST /keys/:key/enable': adminEndpoint({
    scope: 'keys:write',
    summary: 'Enable an API key',
    output: OperatorKey,
  }),
  'POST /keys/:key/revoke': adminEndpoint({
    scope: 'keys:write',
    summary: 'Revoke an API key',
    note: 'For good. A second time changes nothing.',
    output: OperatorKey,
  }),
};
