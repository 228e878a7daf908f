// The operator's home: what the service earned and cost, and what needs attention.
import { Type } from 'typebox';
import { closed, Mode, orNull } from './common.ts';
import { endpoint } from './endpoint.ts';
import { Day } from './usage.ts';

const sums = {
  requests: Type.Integer({ description: 'That were charged.' }),
  revenue_micros: Type.Integer({ description: 'The amount charged.' }),
  cost_micros: Type.Integer({ description: "The operator's cost of the charged requests." }),
  uncollected_micros: Type.Integer({
    description: 'Costs beyond balance and caps; not part of the revenue.',
  }),
  failed_micros: Type.Integer({
    description: "The operator's cost of failed requests, which are free.",
  }),
  margin_micros: Type.Integer({ description: 'Revenue minus cost and failed requests.' }),
};

const ReportRow = closed({
  id: Type.String({
    description:
      "The UTC day, or the account's, key's or model's id. By model, failed requests have none: ''.",
  }),
  name: orNull(Type.String(), 'null: it has none.'),
  ...sums,
});

const Report = closed({
  totals: closed(sums),
  rows: Type.Array(ReportRow, {
    description: 'Days: the newest first. Otherwise the highest revenue first, at most 100.',
  }),
});

/** A matter that the operator should deal with. */
const NextStep = closed({
  area: Type.String({ description: '`providers`, `backup`, `mail`, `configuration`' }),
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

const Attention = closed({
  next_steps: Type.Array(NextStep, { description: 'The most pressing first.' }),
  last_backup_at: orNull(Type.String(), 'null: none was recorded.'),
  routes: Type.Array(FailingRoute, {
    description: 'The routes that this gateway does not use now.',
  }),
  providers: Type.Array(
    closed({ name: Type.String(), calls: Type.Integer(), failures: Type.Integer() }),
    { description: 'Providers with failed calls in the last 24 hours, over all gateways.' },
  ),
  low_balances: Type.Array(
    closed({
      account: closed({ id: Type.String(), name: Type.String() }),
      available_micros: Type.Integer(),
      daily_micros: Type.Integer({
        description: 'The average spend of a day, over the last seven complete UTC days.',
      }),
      days_left: Type.Integer(),
    }),
    {
      description:
        'Live balances that last less than seven days at this pace, the shortest first, at most 20.',
    },
  ),
});

export const operatorHomeEndpoints = {
  'GET /operator/report': endpoint({
    access: 'operator',
    summary: 'Get revenue, cost, losses and margin',
    note: 'The figures of `tollgate report`. Both days are UTC and inclusive, at most 366 days.',
    query: Type.Object({
      mode: Mode,
      from: Day,
      to: Day,
      by: Type.Enum(['account', 'model', 'key', 'day']),
    }),
    output: Report,
  }),
  'GET /operator/attention': endpoint({
    access: 'operator',
    summary: 'List what needs the operator’s attention',
    output: Attention,
  }),
};
