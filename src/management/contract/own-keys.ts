// Keys of providers that an account brings.
import { Type } from 'typebox';
import { closed, Done, orNull } from './common.ts';
import { endpoint } from './endpoint.ts';

const Order = Type.Enum(['before', 'after']);

const OwnKey = closed({
  id: Type.String(),
  provider: Type.String(),
  order: Order,
  shown_end: Type.String({ description: "The key's last characters; '' for a short key." }),
  created_at: Type.String(),
  is_usable: Type.Boolean(),
  last_used_at: orNull(Type.String(), 'When it last gave an answer; null: not yet.'),
  last_refused_at: orNull(Type.String(), 'When the provider last refused it; null: never.'),
});

const OwnKeys = closed({
  keys: Type.Array(OwnKey, { description: 'The oldest first.' }),
  providers: Type.Array(Type.String(), { description: 'Providers that take own keys.' }),
  percent: Type.Number(),
  fee_micros: Type.Integer({ description: 'Microdollars for each such request, added to it.' }),
});

const changing = { access: 'owner', scope: 'accounts:write' } as const;

export const ownKeysEndpoints = {
  'GET /accounts/:account/own-keys': endpoint({
    access: 'owner',
    operator: true,
    scope: 'accounts:read',
    summary: 'List the own keys of an account',
    note: 'Keys of providers that the account brings. The keys themselves are never shown.',
    output: OwnKeys,
  }),
  'POST /accounts/:account/own-keys': endpoint({
    ...changing,
    confirmed: true,
    summary: 'Add an own key of an account',
    note: 'At most 3 for a provider. Default: `before`. Live requests use it within two seconds. To replace a key, add another and remove it.',
    body: Type.Object({
      provider: Type.String({ maxLength: 64, description: 'One of `providers`.' }),
      api_key: Type.String({
        minLength: 1,
        maxLength: 8_192,
        writeOnly: true,
      }),
      order: Type.Optional(Order),
    }),
    output: OwnKey,
  }),
  'PATCH /accounts/:account/own-keys/:ownKey': endpoint({
    ...changing,
    summary: 'Change an own key of an account',
    body: Type.Object({ order: Order }),
    output: OwnKey,
  }),
  'DELETE /accounts/:account/own-keys/:ownKey': endpoint({
    ...changing,
    summary: 'Remove an own key of an account',
    note: 'Requests that begin later do not use it, within two seconds.',
    output: Done,
  }),
};
