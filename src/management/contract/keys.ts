// An account's API keys.
import { Type } from 'typebox';
import { keyScopes } from '../../terms/key-scope.ts';
import { AccountFilter, closed, Mode, optionalOrNull, orNull, Search } from './common.ts';
import { endpoint, type Output } from './endpoint.ts';

/** The first that applies: revoked, disabled, expired. */
export const KeyState = Type.Enum(['active', 'disabled', 'expired', 'revoked']);
export type KeyState = Output<typeof KeyState>;

const KeyScope = Type.Enum([...keyScopes]);

/** Spend of a UTC day or month. */
export const KeySpend = closed({
  spent_micros: Type.Integer(),
  held_micros: Type.Integer(),
  resets_at: Type.String(),
  forecast_micros: orNull(Type.Integer()),
});

export const Key = closed({
  id: Type.String(),
  mode: Mode,
  name: Type.String(),
  hint: Type.String(),
  state: KeyState,
  daily_cap_micros: orNull(Type.Integer(), 'null: no cap; 0: nothing is allowed.'),
  monthly_cap_micros: orNull(Type.Integer()),
  today: KeySpend,
  this_month: KeySpend,
  models: orNull(Type.Array(Type.String()), 'Ids of the catalogue; null: all models.'),
  scopes: orNull(Type.Array(KeyScope)),
  requests_per_minute: orNull(Type.Integer()),
  tokens_per_minute: orNull(Type.Integer()),
  concurrent_requests: orNull(Type.Integer()),
  allowed_addresses: orNull(Type.Array(Type.String())),
  expires_at: orNull(Type.String()),
  body_days: orNull(Type.Integer()),
  cache_marks: Type.Boolean(),
  owner: orNull(closed({ user_id: Type.String(), name: Type.String() })),
  created_at: Type.String(),
  last_used_at: orNull(Type.String()),
  disabled_at: orNull(Type.String()),
  revoked_at: orNull(Type.String()),
  account_id: Type.String(),
  account_name: Type.String(),
});
export type Key = Output<typeof Key>;

/** `secret`: the key's own text, which is shown this once. */
export const NewKey = closed({ key: Key, secret: Type.String() });
export type NewKey = Output<typeof NewKey>;

/** The defaults of a key that sets none of its own; null: no limit. */
const KeyDefaults = closed({
  requests_per_minute: orNull(Type.Integer()),
  tokens_per_minute: orNull(Type.Integer()),
  concurrent_requests: orNull(Type.Integer()),
  bodies: orNull(
    closed({
      days_max: Type.Integer(),
      body_limit_bytes: Type.Integer({ description: 'How much of each body is kept.' }),
      retained: Type.Boolean(),
    }),
    'What keys that keep bodies are limited to; null: none are kept here.',
  ),
});

/** At most a billion dollars. */
const Cap = optionalOrNull(Type.Integer({ minimum: 0, maximum: 1e15 }));
const Limit = optionalOrNull(Type.Integer({ minimum: 0, maximum: 9_999_999_999 }));
export const Name = Type.String({ minLength: 1, maxLength: 200 });

/** In a change, a field that is left out stays as it is, and null clears it. */
export const keyControls = {
  daily_cap_micros: Cap,
  monthly_cap_micros: Cap,
  /** By any of their names; `web-search` for searches of the web. */
  models: optionalOrNull(
    Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { minItems: 1, maxItems: 500 }),
  ),
  /** What it may do. */
  scopes: optionalOrNull(Type.Array(KeyScope, { minItems: 1, maxItems: keyScopes.length })),
  requests_per_minute: Limit,
  tokens_per_minute: Limit,
  concurrent_requests: Limit,
  allowed_addresses: optionalOrNull(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { minItems: 1, maxItems: 100 }),
  ),
  /** A moment to come, as ISO 8601 with its zone. */
  expires_at: optionalOrNull(Type.String({ maxLength: 40 })),
  /** Keeps the bodies of its requests for so many days. */
  body_days: optionalOrNull(Type.Integer({ minimum: 1, maximum: 30 })),
  /** Whether Tollgate marks its prompts for providers' caches. */
  cache_marks: Type.Optional(Type.Boolean()),
};

/** Highest spend, or newest use, first. */
const KeySort = Type.Enum(['spent-today', 'spent-this-month', 'last-used']);

const changing = { access: 'admin', scope: 'keys:write', withoutAccount: true } as const;
const switching = { ...changing, operator: true } as const;

export const keysEndpoints = {
  'GET /accounts/:account/keys': endpoint({
    access: 'viewer',
    operator: true,
    summary: 'List keys',
    note: 'Newest first, or in another order: the first hundred then. `search`: a part of the name or the hint, or an id. `state`: any of these; none: in any.',
    query: Type.Object({
      mode: Mode,
      sort: Type.Optional(KeySort),
      search: Search,
      state: Type.Optional(Type.Array(KeyState, { maxItems: 4 })),
    }),
    page: Key,
  }),
  'GET /operator/keys': endpoint({
    access: 'operator',
    scope: 'keys:read',
    commands: ['keys list'],
    summary: 'List API keys',
    note: 'Newest first. `search`: a part of the name or the hint, or an id. `state`: any of these.',
    query: Type.Object({
      account: AccountFilter,
      mode: Type.Optional(Mode),
      search: Search,
      state: Type.Optional(Type.Array(KeyState, { maxItems: 4 })),
    }),
    page: Key,
  }),
  'GET /accounts/:account/key-last-used': endpoint({
    access: 'member',
    summary: 'Get the active key that was used last',
    note: 'To within seconds. The newest active key if none was used.',
    query: Type.Object({ mode: Mode }),
    output: closed({ key: orNull(Key, 'null: no key is active.') }),
  }),
  'GET /accounts/:account/key-defaults': endpoint({
    access: 'viewer',
    operator: true,
    summary: 'Get the default limits of keys',
    note: 'And what keys that keep bodies are limited to.',
    output: KeyDefaults,
  }),
  'POST /accounts/:account/keys': endpoint({
    access: 'admin',
    operator: true,
    scope: 'keys:write',
    commands: ['keys create'],
    summary: 'Create an API key',
    note: 'In the dashboard, a user’s key is their own, and only an owner may set `body_days`.',
    idempotency: 'optional',
    body: closed({
      mode: Mode,
      name: Name,
      owner_id: Type.Optional(Type.String({ maxLength: 100 })),
      ...keyControls,
    }),
    output: NewKey,
  }),
  'GET /accounts/:account/keys/:key': endpoint({
    access: 'viewer',
    operator: true,
    scope: 'keys:read',
    withoutAccount: true,
    summary: 'Get an API key',
    output: Key,
  }),
  'PATCH /accounts/:account/keys/:key': endpoint({
    ...changing,
    commands: ['keys update'],
    summary: 'Change an API key',
    note: 'A field that is left out stays as it is; null clears it. 409 once the key is revoked. In the dashboard, only an owner may set `body_days`; an admin may set it to null.',
    body: closed({ name: Type.Optional(Name), ...keyControls }),
    output: Key,
  }),
  'PATCH /accounts/:account/keys/:key/owner': endpoint({
    ...changing,
    access: 'owner',
    summary: 'Give an API key to a member',
    note: 'null: it belongs to nobody, and counts in no budget. Otherwise it counts in its new owner’s budget at once, with what it has spent.',
    body: closed({ user_id: orNull(Type.String({ maxLength: 100 })) }),
    output: Key,
  }),
  'POST /accounts/:account/keys/:key/rotate': endpoint({
    ...changing,
    commands: ['keys rotate'],
    summary: 'Rotate an API key',
    note: 'Gives it a new text. The one before works until the overlap ends, and shares its caps and limits. 409 once the key is revoked.',
    idempotency: 'optional',
    body: closed({
      /** How long the text before works beside the new one; 0: it ends now. */
      overlap_hours: Type.Integer({ minimum: 0, maximum: 720 }),
    }),
    output: NewKey,
  }),
  'POST /accounts/:account/keys/:key/disable': endpoint({
    ...switching,
    commands: ['keys disable'],
    summary: 'Disable an API key',
    output: Key,
  }),
  'POST /accounts/:account/keys/:key/enable': endpoint({
    ...switching,
    commands: ['keys enable'],
    summary: 'Enable an API key',
    output: Key,
  }),
  'POST /accounts/:account/keys/:key/revoke': endpoint({
    ...switching,
    commands: ['keys revoke'],
    summary: 'Revoke an API key',
    note: 'For good. A second time changes nothing.',
    output: Key,
  }),
};
