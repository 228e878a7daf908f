// Costs, requests, errors and latencies of any days, compared with as many days before.
import { Type } from 'typebox';
import { closed, Mode, orNull } from './common.ts';
import { endpoint, type Output } from './endpoint.ts';
import { Day } from './usage.ts';

export const analyticsGroups = ['model', 'key', 'member', 'provider', 'tag'] as const;

const Latency = orNull(
  closed({ p50_ms: Type.Integer(), p95_ms: Type.Integer() }),
  'Within 10 %; null: nothing was measured.',
);

const Figures = {
  cost_micros: Type.Integer(),
  requests: Type.Integer({ description: 'Charged, cached, repeated, refused and failed ones.' }),
  input_tokens: Type.Integer({ description: 'Of charged requests, cached or not.' }),
  output_tokens: Type.Integer(),
  errors: Type.Integer({ description: 'Refused and failed requests.' }),
  cached: Type.Integer({ description: 'Answered from the cache or under an Idempotency-Key.' }),
  saved_micros: Type.Integer({ description: 'What those answers had cost, as far as known.' }),
  first_token: Latency,
  duration: Latency,
};

export const AnalyticsFigures = closed(Figures);
export type AnalyticsFigures = Output<typeof AnalyticsFigures>;

export const AnalyticsRow = closed({
  id: orNull(
    Type.String(),
    'Of the model, key, member or provider, or the tag; null: it has none: a request failed before its model was known, or the key belongs to no member.',
  ),
  name: orNull(Type.String(), 'null: it has none.'),
  is_rest: Type.Boolean({ description: 'All others together.' }),
  ...Figures,
  before: closed({ cost_micros: Type.Integer(), requests: Type.Integer() }),
});
export type AnalyticsRow = Output<typeof AnalyticsRow>;

const Series = closed({
  id: orNull(Type.String(), 'As in `rows`; null: all the rest together.'),
  name: orNull(Type.String()),
  is_rest: Type.Boolean(),
  cost_micros: Type.Array(Type.Integer(), { description: 'A figure a day.' }),
});

export const Analytics = closed({
  now: AnalyticsFigures,
  before: AnalyticsFigures,
  days: Type.Array(Type.String(), { description: 'UTC days, the oldest first.' }),
  series: Type.Array(Series, {
    description: 'The highest cost first: five and the rest. Tags overlap, so they have no rest.',
  }),
  rows: Type.Array(AnalyticsRow, {
    description:
      'The highest cost first, at most 200, and one for the rest. Tags overlap, so they have no rest.',
  }),
  errors: Type.Array(closed({ code: Type.String(), requests: Type.Integer() }), {
    description: 'The most frequent first.',
  }),
});
export type Analytics = Output<typeof Analytics>;

export const WeekHours = closed({
  requests: Type.Array(Type.Integer(), {
    description: 'By hour of the week in UTC: the first begins on Sunday at midnight. 168 figures.',
  }),
  cost_micros: Type.Array(Type.Integer()),
});
export type WeekHours = Output<typeof WeekHours>;

const Range = { mode: Mode, from: Day, to: Day };

export const analyticsEndpoints = {
  'GET /accounts/:account/analytics': endpoint({
    access: 'viewer',
    operator: true,
    scope: 'reports:read',
    summary: 'Get figures of some days',
    note: 'At most 366 days, both included. Only costs, charged requests and their tokens are exact: other figures are some seconds late, and a killed gateway loses those seconds.',
    query: Type.Object({ ...Range, by: Type.Enum([...analyticsGroups]) }),
    output: Analytics,
  }),
  'GET /accounts/:account/analytics/hours': endpoint({
    access: 'viewer',
    operator: true,
    scope: 'reports:read',
    summary: 'Get requests and costs by hour of the week',
    note: 'At most 366 days. Some seconds late.',
    query: Type.Object(Range),
    output: WeekHours,
  }),
};
