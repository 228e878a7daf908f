// An account's API keys.
import { Type } from 'typebox';
import { Mode, PageQuery, type Page } from './common.ts';
import { endpoint } from './endpoint.ts';

/** The first that applies: revoked, disabled, expired. */
export const KeyState = Type.Enum(['active', 'disabled', 'expired', 'revoked']);
export type KeyState = 'active' | 'disabled' | 'expired' | 'revoked';

/** Spend of a UTC day or month. */
type KeySpend = {
  readonly spent_micros: number;
  /** By requests that run; it counts against the cap as well. */
  readonly held_micros: number;
  readonly resets_at: string;
};

export type Key = {
  readonly id: string;
  readonly mode: Mode;
  readonly name: string;
  /** Its recognizable form, `tg_live_…x4Qz`; the key itself is shown only when it is created. */
  readonly hint: string;
  readonly state: KeyState;
  /** null: no cap; 0: nothing is allowed. */
  readonly daily_cap_micros: number | null;
  readonly monthly_cap_micros: number | null;
  readonly today: KeySpend;
  readonly this_month: KeySpend;
  /** Ids of the catalogue; null: all models. */
  readonly models: readonly string[] | null;
  /** null: the default of `GET …/key-defaults`; 0: nothing is allowed. */
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly concurrent_requests: number | null;
  /** Addresses and CIDR ranges; null: from anywhere. */
  readonly allowed_addresses: readonly string[] | null;
  readonly expires_at: string | null;
  readonly created_at: string;
  /** The time of its last request, to within seconds; null when it was never used. */
  readonly last_used_at: string | null;
  readonly disabled_at: string | null;
  readonly revoked_at: string | null;
};

export type NewKey = {
  readonly key: Key;
  /** The key's own text: it is shown this once. */
  readonly secret: string;
};

/** The defaults of a key that sets none of its own; null: no limit. */
type KeyDefaults = {
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly concurrent_requests: number | null;
};

const nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

/** At most a billion dollars. */
const Cap = nullable(Type.Integer({ minimum: 0, maximum: 1e15 }));
const Limit = nullable(Type.Integer({ minimum: 0, maximum: 9_999_999_999 }));
const Name = Type.String({ minLength: 1, maxLength: 200 });

/** In a change, a field that is left out stays as it is, and null clears it. */
const controls = {
  daily_cap_micros: Cap,
  monthly_cap_micros: Cap,
  /** By any of their names; `web-search` for searches of the web. */
  models: nullable(
    Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { minItems: 1, maxItems: 500 }),
  ),
  requests_per_minute: Limit,
  tokens_per_minute: Limit,
  concurrent_requests: Limit,
  allowed_addresses: nullable(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { minItems: 1, maxItems: 100 }),
  ),
  /** A moment to come, as ISO 8601 with its zone. */
  expires_at: nullable(Type.String({ maxLength: 40 })),
};

export const keysEndpoints = {
  /** Newest first. `search`: a part of the name or the hint, or an id. `state`: any of these; none: in any. */
  'GET /accounts/:account/keys': endpoint<Page<Key>>()({
    access: 'member',
    query: Type.Object({
      ...PageQuery,
      mode: Mode,
      search: Type.Optional(Type.String({ maxLength: 200 })),
      state: Type.Optional(Type.Array(KeyState, { maxItems: 4 })),
    }),
  }),
  'GET /accounts/:account/keys/:key': endpoint<Key>()({ access: 'member' }),
  'GET /accounts/:account/key-defaults': endpoint<KeyDefaults>()({ access: 'member' }),
  'POST /accounts/:account/keys': endpoint<NewKey>()({
    access: 'admin',
    body: Type.Object({ mode: Mode, name: Name, ...controls }, { additionalProperties: false }),
  }),
  /** 409 once it is revoked, here and below. */
  'PATCH /accounts/:account/keys/:key': endpoint<Key>()({
    access: 'admin',
    body: Type.Object({ name: Type.Optional(Name), ...controls }, { additionalProperties: false }),
  }),
  'POST /accounts/:account/keys/:key/disable': endpoint<Key>()({ access: 'admin' }),
  'POST /accounts/:account/keys/:key/enable': endpoint<Key>()({ access: 'admin' }),
  /** For good. A second time changes nothing. */
  'POST /accounts/:account/keys/:key/revoke': endpoint<Key>()({ access: 'admin' }),
};
