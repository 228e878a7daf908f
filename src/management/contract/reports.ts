// What the service earned and cost, and what needs the operator's attention.
import { Type } from 'typebox';
import { AccountFilter, closed, Mode, ModeFilter, Named, orNull, UtcDay } from './common.ts';
import { endpoint } from './endpoint.ts';
import { UsageFilters, UsageRecord } from './usage.ts';

const reportSums = {
  requests: Type.Integer({ description: 'That were charged.' }),
  revenue_micros: Type.Integer({ description: 'The amount charged.' }),
  cost_micros: Type.Integer({ description: "The operator's cost of the charged requests." }),
  uncollected_micros: Type.Integer(),
  failed_micros: Type.Integer(),
  margin_micros: Type.Integer({ description: 'Revenue minus cost and failed requests.' }),
};

const ReportRow = closed({
  id: Type.String({
    description:
      "The UTC day, or the account's, key's or model's id. By model, failed requests have none: ''.",
  }),
  name: orNull(Type.String(), 'null: it has none.'),
  ...reportSums,
});

const Report = closed({
  totals: closed(reportSums),
  rows: Type.Array(ReportRow, {
    description: 'Days: the newest first. Otherwise the highest revenue first, at most 100.',
  }),
  began_on: orNull(Type.String()),
});

/** A matter that the operator should deal with. */
const NextStep = closed({
  area: Type.String({ description: '`providers`, `models`, `backup`, `mail`, `configuration`' }),
  what: Type.String(),
  remedy: orNull(Type.String()),
});

const FailingRoute = closed({
  provider: Type.String(),
  model: Type.String({ description: "The provider's name of the model." }),
  state: Type.Enum(['ejected', 'probing']),
  reason: orNull(Type.String()),
  until: orNull(Type.String()),
});

const SetUp = {
  provider: Type.Boolean({ description: 'One is switched on.' }),
  live_key: Type.Boolean({ description: 'One that is not revoked.' }),
  balance: Type.Boolean({ description: 'An account has a live balance, or had a charge.' }),
  live_request: Type.Boolean({ description: 'One was charged.' }),
  invited: Type.Boolean({ description: 'There is another user, or an open invitation.' }),
  mail: Type.Boolean({ description: 'A mail server is set.' }),
  backup: Type.Boolean({ description: 'One was recorded.' }),
};

const Attention = closed({
  set_up: closed(SetUp),
  next_steps: Type.Array(NextStep, { description: 'The most pressing first.' }),
  last_backup_at: orNull(Type.String(), 'null: none was recorded.'),
  routes: Type.Array(FailingRoute),
  providers: Type.Array(
    closed({ name: Type.String(), calls: Type.Integer(), failures: Type.Integer() }),
    { description: 'Providers with failed calls in the last 24 hours, over all gateways.' },
  ),
  low_balances: Type.Array(
    closed({
      account: Named,
      available_micros: Type.Integer(),
      daily_micros: Type.Integer(),
      days_left: Type.Integer(),
    }),
  ),
});

const Sum = closed({
  group: Type.String({ description: 'The UTC day, or the id of the account, key or model.' }),
  requests: Type.Integer(),
  input_tokens: Type.Integer({ description: 'All of the input, cached or not.' }),
  output_tokens: Type.Integer(),
  images: Type.Integer(),
  revenue_micros: Type.Integer({ description: 'What was charged.' }),
  cost_micros: Type.Integer({ description: 'What the charged requests cost the operator.' }),
  uncollected_micros: Type.Integer(),
  margin_micros: Type.Integer(),
});

const Loss = closed({
  account_id: Type.String(),
  provoked_loss_micros: Type.Integer(),
  budget_micros: Type.Integer(),
  exceeded: Type.Boolean({ description: 'Its new requests are refused.' }),
  resets_at: orNull(Type.String(), 'When it may send again at the latest; null: it may.'),
});

export const reportsEndpoints = {
  'GET /operator/report': endpoint({
    access: 'operator',
    commands: ['report'],
    summary: 'Get revenue, cost, losses and margin',
    note: 'The figures of `tollgate report`. Both days are UTC and inclusive, at most 366 days.',
    query: Type.Object({
      mode: Mode,
      from: UtcDay,
      to: UtcDay,
      by: Type.Enum(['account', 'model', 'key', 'day']),
    }),
    output: Report,
  }),
  'GET /operator/movers': endpoint({
    access: 'operator',
    summary: 'List the accounts whose revenue changed most',
    note: 'Against as many days before. Both days are UTC and inclusive, at most 366 days.',
    query: Type.Object({ mode: Mode, from: UtcDay, to: UtcDay }),
    output: closed({
      data: Type.Array(
        closed({
          account: Named,
          revenue_micros: Type.Integer({ description: 'The revenue of these days.' }),
          before_micros: Type.Integer({ description: 'The revenue of the days before.' }),
        }),
        { description: 'The largest change first, at most ten.' },
      ),
    }),
  }),
  'GET /operator/money': endpoint({
    access: 'operator',
    summary: 'Get prepaid balances, and what came in',
    note: 'Of live balances. Both days are UTC and inclusive, at most 366 days.',
    query: Type.Object({ from: UtcDay, to: UtcDay }),
    output: closed({
      prepaid_micros: Type.Integer(),
      owed_micros: Type.Integer({ description: 'All balances below zero now, as what is owed.' }),
      paid_micros: Type.Integer({ description: 'Credited for card payments.' }),
      returned_micros: Type.Integer({ description: 'Taken back for refunds and disputes.' }),
      credited_micros: Type.Integer({ description: 'Credited by operators, and at sign-up.' }),
      debited_micros: Type.Integer({ description: 'Debited by operators.' }),
    }),
  }),
  'GET /operator/attention': endpoint({
    access: 'operator',
    summary: 'List what needs the operator’s attention',
    output: Attention,
  }),
  'GET /admin/v1/accounts/:account/usage': endpoint({
    scope: 'reports:read',
    summary: 'List the charges of an account',
    note: 'Newest first. A field that is left out does not filter. Both days are included.',
    query: Type.Object({
      ...UsageFilters,
      mode: ModeFilter,
      from: Type.Optional(UtcDay),
      to: Type.Optional(UtcDay),
    }),
    page: UsageRecord,
  }),
  'GET /admin/v1/reports/sums': endpoint({
    scope: 'reports:read',
    commands: ['report'],
    summary: 'Sum charges by day, account, key or model',
    note: 'In the order of the groups. At most 366 days; both are included. `tollgate report` also has the cost of failed requests.',
    query: Type.Object({
      by: Type.Enum(['day', 'account', 'key', 'model']),
      mode: ModeFilter,
      account: AccountFilter,
      from: UtcDay,
      to: UtcDay,
    }),
    page: Sum,
  }),
  'GET /admin/v1/reports/losses': endpoint({
    scope: 'reports:read',
    summary: 'List the accounts that caused losses',
    note: 'In the last 30 days, in the order of their ids.',
    query: Type.Object({ mode: ModeFilter }),
    page: Loss,
  }),
};
