// How operators manage accounts.
import { Type } from 'typebox';
import { Amount, RequestId, StatementLine } from './billing.ts';
import { closed, orNull, page, Mode, PageQuery } from './common.ts';
import { endpoint, type Output } from './endpoint.ts';

const Balance = closed({
  posted_micros: Type.Integer(),
  held_micros: Type.Integer(),
  available_micros: Type.Integer(),
});

export const AccountRow = closed({
  id: Type.String(),
  name: Type.String(),
  created_at: Type.String(),
  frozen: Type.Boolean({ description: 'It cannot spend.' }),
  price_multiplier_ppm: Type.Integer({ description: 'In millionths of the list prices.' }),
  live: Balance,
  test: Balance,
});
export type AccountRow = Output<typeof AccountRow>;

export const AccountDetail = closed({
  ...AccountRow.properties,
  model_prices: Type.Array(
    closed({
      model: Type.String(),
      multiplier_ppm: Type.Integer(),
    }),
    { description: "Multipliers of single models, which replace the account's." },
  ),
  retain_responses: Type.Boolean({
    description: 'True when answers are stored for replays and the cache.',
  }),
  requests_per_minute: orNull(
    Type.Integer(),
    'The limit for all its keys of one mode together; null: the configured default.',
  ),
  tokens_per_minute: orNull(Type.Integer()),
  concurrent_requests: orNull(Type.Integer()),
  allowed_addresses: orNull(
    Type.Array(Type.String()),
    'Addresses and CIDR ranges; null: from anywhere.',
  ),
  provoked_loss_micros: Type.Integer({
    description: 'In the last 30 days, of its live keys, without those that were forgiven.',
  }),
  loss_budget_exceeded: Type.Boolean({ description: 'Its new live requests are refused.' }),
});
export type AccountDetail = Output<typeof AccountDetail>;

const Adjusted = closed({
  entry_id: Type.String(),
  available_micros: Type.Integer({
    description: 'Right after it; the same when it is asked for again.',
  }),
});

const Name = Type.String({ minLength: 1, maxLength: 200 });
/** At most a factor of 1,000. */
export const Multiplier = Type.Integer({ minimum: 0, maximum: 1e9 });
const Limit = Type.Optional(
  Type.Union([Type.Integer({ minimum: 0, maximum: 9_999_999_999 }), Type.Null()]),
);

export const operatorAccountsEndpoints = {
  'GET /operator/accounts': endpoint({
    access: 'operator',
    summary: 'List accounts',
    note: 'Newest first. `search`: a part of the name, or an id.',
    query: Type.Object({
      ...PageQuery,
      search: Type.Optional(Type.String()),
      frozen: Type.Optional(Type.Boolean()),
    }),
    output: page(AccountRow),
  }),
  'POST /operator/accounts': endpoint({
    access: 'operator',
    summary: 'Create an account',
    body: Type.Object({
      request_id: RequestId,
      name: Name,
      price_multiplier_ppm: Type.Optional(Multiplier),
    }),
    output: closed({
      id: Type.String(),
    }),
  }),
  'GET /operator/accounts/:account': endpoint({
    access: 'operator',
    summary: 'Get an account',
    output: AccountDetail,
  }),
  'GET /operator/accounts/:account/statement': endpoint({
    access: 'operator',
    summary: 'List an account’s statement',
    note: 'Newest first.',
    query: Type.Object({ ...PageQuery, mode: Mode }),
    output: page(StatementLine),
  }),
  'PATCH /operator/accounts/:account': endpoint({
    access: 'operator',
    summary: 'Change an account',
    note: 'A field that is left out stays as it is; null clears it.',
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
    output: AccountDetail,
  }),
  'PATCH /operator/accounts/:account/model-prices': endpoint({
    access: 'operator',
    summary: 'Set an account’s price of one model',
    note: "Sets the multiplier of one model; null removes it, so that the account's applies.",
    body: Type.Object({
      model: Type.String({ minLength: 1 }),
      multiplier_ppm: Type.Union([Multiplier, Type.Null()]),
    }),
    output: AccountDetail,
  }),
  'POST /operator/accounts/:account/adjustments': endpoint({
    access: 'operator',
    summary: 'Credit or debit an account',
    note: 'A debit may take the balance below zero.',
    body: Type.Object({
      request_id: RequestId,
      kind: Type.Enum(['credit', 'debit']),
      mode: Mode,
      amount_micros: Amount,
      note: Type.String({ minLength: 1, maxLength: 500 }),
    }),
    output: Adjusted,
  }),
  'POST /operator/accounts/:account/purge': endpoint({
    access: 'operator',
    summary: 'Erase an account’s stored answers',
    note: 'Erases the answers that are kept for it.',
    output: closed({
      cached_responses_erased: Type.Integer(),
      replayed_responses_erased: Type.Integer(),
      kept_bodies_erased: Type.Integer({
        description: 'The requests whose bodies were kept.',
      }),
    }),
  }),
};
