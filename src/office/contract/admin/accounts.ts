// Accounts, their balances and their money.
import { Type } from 'typebox';
import { Amount, StatementLine } from '../billing.ts';
import { closed, Mode } from '../common.ts';
import { keyControls, Name } from '../keys.ts';
import { AccountDetail, AccountRow } from '../operator-accounts.ts';
import { ModeFilter, page, PageQuery, Search } from './common.ts';
import { adminEndpoint } from './endpoint.ts';

/** Limits that all keys of one mode share. A missing field is not changed; null removes the limit. */
const limits = {
  requests_per_minute: keyControls.requests_per_minute,
  tokens_per_minute: keyControls.tokens_per_minute,
  concurrent_requests: keyControls.concurrent_requests,
  allowed_addresses: keyControls.allowed_addresses,
};

const adjustment = {
  kind: Type.Enum(['credit', 'debit']),
  mode: Mode,
  amount_micros: Amount,
  note: Type.String({
    minLength: 1,
    maxLength: 500,
    description: "The line's text in the statement, such as the number of an order.",
  }),
};

export const accountsEndpoints = {
  'GET /accounts': adminEndpoint({
    scope: 'accounts:read',
    summary: 'List accounts',
    note: 'Newest first. `search`: a part of the name, or an id.',
    query: Type.Object({ ...PageQuery, search: Search, frozen: Type.Optional(Type.Boolean()) }),
    output: page(AccountRow),
  }),
  'POST /accounts': adminEndpoint({
    scope: 'accounts:write',
    summary: 'Create an account',
    idempotency: 'optional',
    body: closed({ name: Name, ...limits }),
    output: AccountDetail,
  }),
  'GET /accounts/:account': adminEndpoint({
    scope: 'accounts:read',
    summary: 'Get an account with its balances',
    output: AccountDetail,
  }),
  'PATCH /accounts/:account': adminEndpoint({
    scope: 'accounts:write',
    summary: 'Change an account',
    note: 'A field that is left out stays as it is; null clears it. `retain_responses: false` also erases the stored answers.',
    body: closed({
      name: Type.Optional(Name),
      frozen: Type.Optional(Type.Boolean()),
      retain_responses: Type.Optional(Type.Boolean()),
      ...limits,
    }),
    output: AccountDetail,
  }),
  'POST /accounts/:account/purge': adminEndpoint({
    scope: 'accounts:write',
    summary: 'Erase the stored answers of an account',
    output: closed({
      cached_responses_erased: Type.Integer(),
      replayed_responses_erased: Type.Integer(),
      kept_bodies_erased: Type.Integer({
        description: 'The requests whose bodies were kept.',
      }),
    }),
  }),
  'GET /accounts/:account/statement': adminEndpoint({
    scope: 'reports:read',
    summary: 'List the statement of an account',
    note: 'Newest first. The lines add up to the posted balance.',
    query: Type.Object({ ...PageQuery, mode: ModeFilter }),
    output: page(StatementLine),
  }),
  'POST /accounts/:account/adjustments': adminEndpoint({
    scope: 'credits:write',
    summary: 'Credit or debit an account',
    note: 'A debit may take the balance below zero. 409: the balance would be beyond $9 billion. A credit or debit is booked once under its `Idempotency-Key`, also after the day that answers are kept.',
    idempotency: 'required',
    body: closed(adjustment),
    output: closed({
      entry_id: Type.String(),
      account_id: Type.String(),
      ...adjustment,
      available_micros: Type.Integer({ description: 'Right after it.' }),
    }),
  }),
  'POST /accounts/:account/forgive-losses': adminEndpoint({
    scope: 'credits:write',
    summary: 'Forgive the losses of an account',
    note: 'Its losses until now no longer count against its loss budget. A request that is repeated under its `Idempotency-Key` does not forgive later losses.',
    idempotency: 'required',
    output: closed({ forgiven_loss_micros: Type.Integer() }),
  }),
};
