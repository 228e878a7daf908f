// An account at a glance: its money and its last errors. Figures of days are in analytics.ts.
import { Type } from 'typebox';
import { closed, Mode, Named, orNull } from './common.ts';
import { endpoint, type Output } from './endpoint.ts';

export const RecentError = closed({
  request_id: Type.String(),
  created_at: Type.String(),
  code: Type.String(),
  path: Type.String({ description: '`/v1/chat/completions`' }),
  model: orNull(Type.String(), 'null: it failed before its model was known.'),
  key: Named,
});
export type RecentError = Output<typeof RecentError>;

export const Overview = closed({
  balance: closed({
    available_micros: Type.Integer({ description: 'The spendable balance: posted less held.' }),
    held_micros: Type.Integer({ description: 'By requests that run.' }),
  }),
  /** Since midnight, and since the first of the month, UTC. */
  spent: closed({ today_micros: Type.Integer(), month_micros: Type.Integer() }),
  runway_days: orNull(Type.Integer()),
  has_charges: Type.Boolean({ description: 'False: no request of this mode was ever charged.' }),
  recent_errors: Type.Array(RecentError, { description: 'The last ten.' }),
});
export type Overview = Output<typeof Overview>;

export const overviewEndpoints = {
  'GET /accounts/:account/overview': endpoint({
    access: 'viewer',
    summary: 'Get the account at a glance',
    query: Type.Object({ mode: Mode }),
    output: Overview,
  }),
};
