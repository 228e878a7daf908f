// Accounts: their settings, limits and prices.
import { Type } from 'typebox';
import { closed, Done, orNull, Search } from './common.ts';
import { endpoint, type Output } from './endpoint.ts';
import { keyControls, Name } from './keys.ts';
import { RequestId } from './billing.ts';

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

const ListedAccount = closed({
  ...AccountRow.properties,
  owner: orNull(closed({ name: Type.String(), email: Type.String() })),
  last_charged_on: orNull(Type.String(), 'The UTC day of its last live charge; null: none.'),
  last_30_days: closed(
    {
      revenue_micros: Type.Integer({ description: 'What it was charged, live.' }),
      cost_micros: Type.Integer({ description: 'What the charged requests cost the operator.' }),
      margin_micros: Type.Integer({ description: 'Revenue minus cost and failed requests.' }),
      day_revenues_micros: Type.Array(Type.Integer()),
    },
    { description: 'Today and the 29 UTC days before.' },
  ),
});

export const AccountDetail = closed({
  ...AccountRow.properties,
  model_prices: Type.Array(closed({ model: Type.String(), multiplier_ppm: Type.Integer() })),
  requires_second_factor: Type.Boolean(),
  retain_responses: Type.Boolean(),
  requests_per_minute: orNull(Type.Integer()),
  tokens_per_minute: orNull(Type.Integer()),
  concurrent_requests: orNull(Type.Integer()),
  allowed_addresses: orNull(Type.Array(Type.String())),
  provoked_loss_micros: Type.Integer(),
  loss_budget_exceeded: Type.Boolean({ description: 'Its new live requests are refused.' }),
});
export type AccountDetail = Output<typeof AccountDetail>;

const AccountSettings = closed({
  id: Type.String(),
  name: Type.String(),
  retain_responses: AccountDetail.properties.retain_responses,
  requires_second_factor: AccountDetail.properties.requires_second_factor,
  created_at: Type.String(),
});

const AccountPrices = closed({
  price_multiplier_ppm: AccountDetail.properties.price_multiplier_ppm,
  model_prices: AccountDetail.properties.model_prices,
});

/** At most a factor of 1,000. */
const Multiplier = Type.Integer({ minimum: 0, maximum: 1e9 });
/** With an admin key, it needs a scope of its own: `…/prices`. */
const multiplier = { price_multiplier_ppm: Type.Optional(Multiplier) };

/**
 * Limits that all keys of one mode share. A missing field is not changed; null removes the limit.
 */
const limits = {
  requests_per_minute: keyControls.requests_per_minute,
  tokens_per_minute: keyControls.tokens_per_minute,
  concurrent_requests: keyControls.concurrent_requests,
  allowed_addresses: keyControls.allowed_addresses,
};

export const accountsEndpoints = {
  'GET /operator/accounts': endpoint({
    access: 'operator',
    scope: 'accounts:read',
    commands: ['accounts list'],
    summary: 'List accounts',
    note: 'Newest first. `search`: a part of the name, or an id.',
    query: Type.Object({ search: Search, frozen: Type.Optional(Type.Boolean()) }),
    page: ListedAccount,
  }),
  'POST /operator/accounts': endpoint({
    access: 'operator',
    scope: 'accounts:write',
    commands: ['accounts create'],
    summary: 'Create an account',
    idempotency: 'optional',
    body: Type.Object({ request_id: RequestId, name: Name, ...multiplier, ...limits }),
    inDashboard: ['request_id', 'price_multiplier_ppm'],
    output: AccountDetail,
  }),
  'GET /operator/accounts/:account': endpoint({
    access: 'operator',
    scope: 'accounts:read',
    summary: 'Get an account with its balances',
    output: AccountDetail,
  }),
  'PATCH /operator/accounts/:account': endpoint({
    access: 'operator',
    scope: 'accounts:write',
    commands: ['accounts update'],
    summary: 'Change an account',
    note: 'A field that is left out stays as it is; null clears it. `retain_responses: false` also erases the stored answers.',
    body: Type.Object({
      name: Type.Optional(Name),
      frozen: Type.Optional(Type.Boolean()),
      retain_responses: Type.Optional(Type.Boolean()),
      ...multiplier,
      ...limits,
    }),
    inDashboard: ['price_multiplier_ppm'],
    output: AccountDetail,
  }),
  'POST /operator/accounts/:account/purge': endpoint({
    access: 'operator',
    scope: 'accounts:write',
    commands: ['accounts purge'],
    summary: 'Erase the stored answers of an account',
    output: closed({
      cached_responses_erased: Type.Integer(),
      replayed_responses_erased: Type.Integer(),
      kept_bodies_erased: Type.Integer({ description: 'The requests whose bodies were kept.' }),
    }),
  }),
  'GET /admin/v1/accounts/:account/prices': endpoint({
    scope: 'prices:read',
    summary: 'Get the price multipliers of an account',
    output: AccountPrices,
  }),
  'PATCH /operator/accounts/:account/prices': endpoint({
    access: 'operator',
    scope: 'prices:write',
    commands: ['accounts update'],
    summary: 'Change the price multipliers of an account',
    note: 'All of it, or nothing. A model whose multiplier is null gets the account’s.',
    body: Type.Object({
      ...multiplier,
      model_prices: Type.Optional(
        Type.Array(
          closed({
            model: Type.String({ minLength: 1, maxLength: 200 }),
            multiplier_ppm: orNull(Multiplier),
          }),
          { maxItems: 100 },
        ),
      ),
    }),
    output: AccountPrices,
  }),
  'GET /accounts/:account/settings': endpoint({
    access: 'viewer',
    summary: 'Get the account’s settings',
    output: AccountSettings,
  }),
  'PATCH /accounts/:account/settings': endpoint({
    access: 'owner',
    summary: 'Change the account’s settings',
    body: Type.Object({
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
      retain_responses: Type.Optional(Type.Boolean()),
      requires_second_factor: Type.Optional(AccountDetail.properties.requires_second_factor),
    }),
    output: Done,
  }),
};
