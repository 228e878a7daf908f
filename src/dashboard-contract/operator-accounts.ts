// How operators manage accounts.
import { Type } from 'typebox';
import { Amount, RequestId, type StatementLine } from './billing.ts';
import { Mode, PageQuery, type Page } from './common.ts';
import { endpoint } from './endpoint.ts';

type Balance = {
  readonly posted_micros: number;
  readonly held_micros: number;
  readonly available_micros: number;
};

export type AccountRow = {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
  /** It cannot spend. */
  readonly frozen: boolean;
  /** In millionths of the list prices. */
  readonly price_multiplier_ppm: number;
  readonly live: Balance;
  readonly test: Balance;
};

export type AccountDetail = AccountRow & {
  /** Multipliers of single models, which replace the account's. */
  readonly model_prices: readonly { readonly model: string; readonly multiplier_ppm: number }[];
  /** True when answers are stored for replays and the cache. */
  readonly retain_responses: boolean;
  /** The limit for all its keys of one mode together; null: the configured default. */
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly concurrent_requests: number | null;
  /** Addresses and CIDR ranges; null: from anywhere. */
  readonly allowed_addresses: readonly string[] | null;
  /** In the last 30 days, of its live keys, without those that were forgiven. */
  readonly provoked_loss_micros: number;
  /** Its new live requests are refused. */
  readonly loss_budget_exceeded: boolean;
};

type Adjusted = {
  readonly entry_id: string;
  /** Right after it; the same when it is asked for again. */
  readonly available_micros: number;
};

const Name = Type.String({ minLength: 1, maxLength: 200 });
/** At most a factor of 1,000. */
const Multiplier = Type.Integer({ minimum: 0, maximum: 1e9 });
const Limit = Type.Optional(
  Type.Union([Type.Integer({ minimum: 0, maximum: 9_999_999_999 }), Type.Null()]),
);

export const operatorAccountsEndpoints = {
  /** Newest first. `search`: a part of the name, or an id. */
  'GET /operator/accounts': endpoint<Page<AccountRow>>()({
    access: 'operator',
    query: Type.Object({
      ...PageQuery,
      search: Type.Optional(Type.String()),
      frozen: Type.Optional(Type.Boolean()),
    }),
  }),
  'POST /operator/accounts': endpoint<{ readonly id: string }>()({
    access: 'operator',
    body: Type.Object({
      request_id: RequestId,
      name: Name,
      price_multiplier_ppm: Type.Optional(Multiplier),
    }),
  }),
  'GET /operator/accounts/:account': endpoint<AccountDetail>()({ access: 'operator' }),
  /** Newest first. */
  'GET /operator/accounts/:account/statement': endpoint<Page<StatementLine>>()({
    access: 'operator',
    query: Type.Object({ ...PageQuery, mode: Mode }),
  }),
  /** A field that is left out stays as it is; null clears it. */
  'PATCH /operator/accounts/:account': endpoint<AccountDetail>()({
    access: 'operator',
    body: Type.Object({
      name: Type.Optional(Name),
      frozen: Type.Optional(Type.Boolean()),
      price_multiplier_ppm: Type.Optional(Multiplier),
      retain_responses: Type.Optional(Type.Boolean()),
      requests_per_minute: Limit,
      tokens_per_minute: Limit,
      concurrent_requests: Limit,
      allowed_addresses: Type.Optional(
        Type.Union([Type.Array(Type.String(), { maxItems: 100 }), Type.Null()]),
      ),
    }),
  }),
  /** Sets the multiplier of one model; null removes it, so that the account's applies. */
  'PATCH /operator/accounts/:account/model-prices': endpoint<AccountDetail>()({
    access: 'operator',
    body: Type.Object({
      model: Type.String({ minLength: 1 }),
      multiplier_ppm: Type.Union([Multiplier, Type.Null()]),
    }),
  }),
  /** A debit may take the balance below zero. */
  'POST /operator/accounts/:account/adjustments': endpoint<Adjusted>()({
    access: 'operator',
    body: Type.Object({
      request_id: RequestId,
      kind: Type.Enum(['credit', 'debit']),
      mode: Mode,
      amount_micros: Amount,
      note: Type.String({ minLength: 1, maxLength: 500 }),
    }),
  }),
  /** Erases the answers that are kept for it. */
  'POST /operator/accounts/:account/purge': endpoint<{
    readonly cached_responses_erased: number;
    readonly replayed_responses_erased: number;
  }>()({ access: 'operator' }),
};
