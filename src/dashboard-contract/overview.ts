// An account at a glance: its money, the last 30 days, and recent errors.
import { Type } from 'typebox';
import { Mode } from './common.ts';
import { endpoint } from './endpoint.ts';

/** The last 30 UTC days, including today. */
export type Activity = {
  /** That were charged. */
  readonly requests: number;
  /** All input, that from a provider's cache included. */
  readonly input_tokens: number;
  /** The part of the input that was read from a provider's cache. */
  readonly cached_tokens: number;
  readonly output_tokens: number;
  readonly cost_micros: number;
  /** Answered from the response cache, and again under an Idempotency-Key: for nothing. */
  readonly cache_hits: number;
  readonly replays: number;
  /** The original cost of those answers, as far as it is known. */
  readonly saved_micros: number;
};

export type ErrorCount = {
  /** A code of docs/errors.md. */
  readonly code: string;
  readonly requests: number;
};

export type RecentError = {
  readonly request_id: string;
  readonly created_at: string;
  readonly code: string;
  /** `/v1/chat/completions` */
  readonly path: string;
  /** null: it failed before its model was known. */
  readonly model: string | null;
  readonly key: { readonly id: string; readonly name: string };
};

export type Overview = {
  readonly balance: {
    /** The spendable balance: posted less held. */
    readonly available_micros: number;
    /** By requests that run. */
    readonly held_micros: number;
  };
  /** Since midnight, and since the first of the month, UTC. */
  readonly spent: { readonly today_micros: number; readonly month_micros: number };
  /** False: no request of this mode was ever charged. */
  readonly has_charges: boolean;
  readonly activity: Activity;
  /** The errors of the same 30 days, most frequent first. */
  readonly errors: readonly ErrorCount[];
  /** The last ten. */
  readonly recent_errors: readonly RecentError[];
};

export type CostSeries = {
  /** A model's or a key's id; null: all the rest together. */
  readonly id: string | null;
  /** null: it has none, or is the rest. */
  readonly name: string | null;
  /** A figure a day. */
  readonly cost_micros: readonly number[];
};

export type DailyCosts = {
  /** UTC days, `2026-11-22`: the oldest first, today last. */
  readonly days: readonly string[];
  /** The dearest first, at most eight and the rest. */
  readonly series: readonly CostSeries[];
};

export const overviewEndpoints = {
  'GET /accounts/:account/overview': endpoint<Overview>()({
    access: 'member',
    query: Type.Object({ mode: Mode }),
  }),
  'GET /accounts/:account/overview/costs': endpoint<DailyCosts>()({
    access: 'member',
    query: Type.Object({ mode: Mode, by: Type.Enum(['model', 'key']) }),
  }),
};
