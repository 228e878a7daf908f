// Charges, sums, losses and the audit log.
import { Type } from 'typebox';
import { closed, orNull } from '../common.ts';
import { AuditEntry } from '../operator.ts';
import { UsageFilters, UsageRecord } from '../usage.ts';
import { AccountFilter, Day, ModeFilter, page, PageQuery } from './common.ts';
import { adminEndpoint } from './endpoint.ts';

const Sum = closed({
  group: Type.String({ description: 'The UTC day, or the id of the account, key or model.' }),
  requests: Type.Integer(),
  input_tokens: Type.Integer({ description: 'All of the input, cached or not.' }),
  output_tokens: Type.Integer(),
  images: Type.Integer(),
  revenue_micros: Type.Integer({ description: 'What was charged.' }),
  cost_micros: Type.Integer({ description: 'What the charged requests cost the operator.' }),
  uncollected_micros: Type.Integer({
    description: 'Costs beyond balance and caps; not part of the revenue.',
  }),
  margin_micros: Type.Integer({
    description: 'Revenue less cost, without the cost of failed requests.',
  }),
});

const Loss = closed({
  account_id: Type.String(),
  provoked_loss_micros: Type.Integer(),
  budget_micros: Type.Integer(),
  exceeded: Type.Boolean({ description: 'Its new requests are refused.' }),
  resets_at: orNull(Type.String(), 'When it may send again at the latest; null: it may.'),
});

export const reportsEndpoints = {
  'GET /accounts/:account/usage': adminEndpoint({
    scope: 'reports:read',
    summary: 'List the charges of an account',
    note: 'Newest first. A field that is left out does not filter. Both days are included.',
    query: Type.Object({
      ...PageQuery,
      ...UsageFilters,
      mode: ModeFilter,
      from: Type.Optional(Day),
      to: Type.Optional(Day),
    }),
    output: page(UsageRecord),
  }),
  'GET /reports/sums': adminEndpoint({
    scope: 'reports:read',
    summary: 'Sum charges by day, account, key or model',
    note: 'In the order of the groups. At most 366 days; both are included. `tollgate report` also has the cost of failed requests.',
    query: Type.Object({
      ...PageQuery,
      by: Type.Enum(['day', 'account', 'key', 'model']),
      mode: ModeFilter,
      account: AccountFilter,
      from: Day,
      to: Day,
    }),
    output: page(Sum),
  }),
  'GET /reports/losses': adminEndpoint({
    scope: 'reports:read',
    summary: 'List the accounts that caused losses',
    note: 'In the last 30 days, in the order of their ids.',
    query: Type.Object({ ...PageQuery, mode: ModeFilter }),
    output: page(Loss),
  }),
  'GET /audit-log': adminEndpoint({
    scope: 'audit:read',
    summary: 'List the audit log',
    note: 'Newest first. `action`: one, or what it begins with, as `key.`.',
    query: Type.Object({
      ...PageQuery,
      account: AccountFilter,
      actor: Type.Optional(Type.String({ maxLength: 64 })),
      action: Type.Optional(Type.String({ maxLength: 64 })),
      subject: Type.Optional(Type.String({ maxLength: 200 })),
    }),
    output: page(AuditEntry),
  }),
};
