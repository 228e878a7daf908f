// An account at a glance: its money, the last 30 days, and recent errors.
import { Type } from 'typebox';
import { closed, orNull, Mode } from './common.ts';
import { endpoint, type Output } from './endpoint.ts';

/** The last 30 UTC days, including today. */
export const Activity = closed({
  requests: Type.Integer({ description: 'That were charged.' }),
  input_tokens: Type.Integer({ description: "All input, that from a provider's cache included." }),
  cached_tokens: Type.Integer({
    description: "The part of the input that was read from a provider's cache.",
  }),
  output_tokens: Type.Integer(),
  cost_micros: Type.Integer(),
  cache_hits: Type.Integer({
    description:
      'Answered from the response cache, and again under an Idempotency-Key: for nothing.',
  }),
  replays: Type.Integer(),
  saved_micros: Type.Integer({
    description: 'The original cost of those answers, as far as it is known.',
  }),
});
export type Activity = Output<typeof Activity>;

export const ErrorCount = closed({
  code: Type.String({ description: 'A code of docs/errors.md.' }),
  requests: Type.Integer(),
});
export type ErrorCount = Output<typeof ErrorCount>;

export const RecentError = closed({
  request_id: Type.String(),
  created_at: Type.String(),
  code: Type.String(),
  path: Type.String({ description: '`/v1/chat/completions`' }),
  model: orNull(Type.String(), 'null: it failed before its model was known.'),
  key: closed({
    id: Type.String(),
    name: Type.String(),
  }),
});
export type RecentError = Output<typeof RecentError>;

export const Overview = closed({
  balance: closed({
    available_micros: Type.Integer({ description: 'The spendable balance: posted less held.' }),
    held_micros: Type.Integer({ description: 'By requests that run.' }),
  }),
  /** Since midnight, and since the first of the month, UTC. */
  spent: closed({
    today_micros: Type.Integer(),
    month_micros: Type.Integer(),
  }),
  has_charges: Type.Boolean({ description: 'False: no request of this mode was ever charged.' }),
  activity: Activity,
  errors: Type.Array(ErrorCount, {
    description: 'The errors of the same 30 days, most frequent first.',
  }),
  recent_errors: Type.Array(RecentError, { description: 'The last ten.' }),
});
export type Overview = Output<typeof Overview>;

export const CostSeries = closed({
  id: orNull(Type.String(), "A model's or a key's id; null: all the rest together."),
  name: orNull(Type.String(), 'null: it has none, or is the rest.'),
  cost_micros: Type.Array(Type.Integer(), { description: 'A figure a day.' }),
});
export type CostSeries = Output<typeof CostSeries>;

export const DailyCosts = closed({
  days: Type.Array(Type.String(), {
    description: 'UTC days, `2026-11-22`: the oldest first, today last.',
  }),
  series: Type.Array(CostSeries, { description: 'The dearest first, at most eight and the rest.' }),
});
export type DailyCosts = Output<typeof DailyCosts>;

export const overviewEndpoints = {
  'GET /accounts/:account/overview': endpoint({
    access: 'member',
    summary: 'Get the account at a glance',
    query: Type.Object({ mode: Mode }),
    output: Overview,
  }),
  'GET /accounts/:account/overview/costs': endpoint({
    access: 'member',
    summary: 'Get the daily costs',
    query: Type.Object({ mode: Mode, by: Type.Enum(['model', 'key']) }),
    output: DailyCosts,
  }),
};
