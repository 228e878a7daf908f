// Costs, requests, errors and latencies of any days, compared with as many days before.
import { Type } from 'typebox';
import { closed, Mode, orNull, UtcDay } from './common.ts';
import { endpoint, type Output } from './endpoint.ts';

export const analyticsGroups = ['model', 'key', 'member', 'provider', 'tag'] as const;

const Latency = orNull(closed({ p50_ms: Type.Integer(), p95_ms: Type.Integer() }));

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
  id: orNull(Type.String()),
  name: orNull(Type.String(), 'null: it has none.'),
  is_rest: Type.Boolean({ description: 'All others together.' }),
  ...Figures,
  before: closed({ cost_micros: Type.Integer(), requests: Type.Integer() }),
  day_costs_micros: orNull(Type.Array(Type.Integer())),
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
  series: Type.Array(Series),
  tag_name: orNull(Type.String(), 'By tag: whose values `series` has; null: of no tag.'),
  rows: Type.Array(AnalyticsRow, {
    description:
      'The highest cost first, at most 200, and one for the rest. Tags overlap, so they have no rest.',
  }),
  errors: Type.Array(closed({ code: Type.String(), requests: Type.Integer() })),
  began_on: orNull(Type.String()),
});
export type Analytics = Output<typeof Analytics>;

export const WeekHours = closed({
  requests: Type.Array(Type.Integer(), {
    description: 'By hour of the week in UTC: the first begins on Sunday at midnight. 168 figures.',
  }),
  cost_micros: Type.Array(Type.Integer()),
  hours: orNull(
    Type.Array(
      closed({
        hour: Type.String({ description: 'In UTC: `2026-11-21T12`.' }),
        requests: Figures.requests,
        errors: Figures.errors,
        first_token: Latency,
        duration: Latency,
      }),
    ),
    'Each hour, the oldest first; null: there are more than two days.',
  ),
});
export type WeekHours = Output<typeof WeekHours>;

const AnalyticsDays = closed({
  days: Type.Array(Type.String(), { description: 'UTC days, the oldest first.' }),
  now: Type.Array(AnalyticsFigures, { description: 'Of each day.' }),
  before: Type.Array(AnalyticsFigures, { description: 'Of each of as many days before.' }),
});
export type AnalyticsDays = Output<typeof AnalyticsDays>;

const Range = { mode: Mode, from: UtcDay, to: UtcDay };

const reading = { access: 'viewer', operator: true, scope: 'reports:read' } as const;

export const analyticsEndpoints = {
  'GET /accounts/:account/analytics': endpoint({
    ...reading,
    summary: 'Get figures of some days',
    note: 'At most 366 days, both included. Only costs, charged requests and their tokens are exact: other figures are some seconds late, and a killed gateway loses those seconds.',
    query: Type.Object({
      ...Range,
      by: Type.Enum([...analyticsGroups]),
      tag_name: Type.Optional(
        Type.String({
          maxLength: 64,
          description: 'By default that of the tag with the highest cost.',
        }),
      ),
    }),
    output: Analytics,
  }),
  'GET /accounts/:account/analytics/days': endpoint({
    ...reading,
    summary: 'Get figures of each day, and of as many days before',
    note: 'At most 366 days, both included. As exact as the figures of some days.',
    query: Type.Object(Range),
    output: AnalyticsDays,
  }),
  'GET /accounts/:account/analytics/hours': endpoint({
    ...reading,
    summary: 'Get requests and costs by hour of the week',
    note: 'At most 366 days. Some seconds late. Of at most two days also errors and latencies, by hour.',
    query: Type.Object(Range),
    output: WeekHours,
  }),
};
