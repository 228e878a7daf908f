// The filters of the request history, as queries of the ledger's charges and of the account's
// activity.
import { chargedEndpointAt, chargedEndpoints } from '../../terms/charged-endpoints.ts';
import type { QueryOf } from '../contract/endpoint.ts';
import type { requestEndpoints, requestOutcomes } from '../contract/requests.ts';
import type { ChargeFilter } from '../../domain/ledger/reports/queries.ts';
import { dayMs, dayOf } from '../../lib/utc-time.ts';
import { checkDays, startOfDay } from './days.ts';

export type Outcome = (typeof requestOutcomes)[number];
export type Filters = QueryOf<(typeof requestEndpoints)['GET /accounts/:account/requests/totals']>;

type Range = { readonly fromMs?: number; readonly toMs?: number };

const shownDays = 30;

/** Returns the days to show, by default the last 30. Throws ApiError `invalid_request`. */
export function daysOf(
  { from, to }: Filters,
  nowMs: number,
  daysMax?: number,
): { readonly from: string; readonly to: string } {
  const last = to ?? dayOf(nowMs);
  const first = from ?? dayOf(startOfDay('to', last) - (shownDays - 1) * dayMs);
  checkDays(first, last, daysMax);
  return { from: first, to: last };
}

export function wantsCharges({ outcome, code }: Filters): boolean {
  return code === undefined && (outcome === undefined || isCharged(outcome));
}

export function wantsUncharged({ outcome, provider, cost_min_micros: costMin }: Filters): boolean {
  if (provider !== undefined || (costMin ?? 0) > 0) return false;
  return outcome === undefined || !isCharged(outcome);
}

export function isCharged(outcome: Outcome): outcome is 'complete' | 'cut-off' {
  return outcome === 'complete' || outcome === 'cut-off';
}

export function chargeFilter(
  { key, model, member, endpoint, outcome, tag, provider, hour, ...bounds }: Filters,
  range: Range,
): ChargeFilter {
  return {
    ...range,
    keyId: key,
    modelId: model,
    endpoint,
    member,
    tag,
    provider,
    weekHour: hour,
    costMinMicros: bounds.cost_min_micros,
    costMaxMicros: bounds.cost_max_micros,
    durationMinMs: bounds.duration_min_ms,
    client: bounds.client?.toLowerCase(),
    ending: outcome !== undefined && isCharged(outcome) ? outcome : undefined,
  };
}

export function unchargedFilter(
  accountId: string,
  { mode, key, model, member, endpoint, outcome, code, tag, hour, ...bounds }: Filters,
  range: Range,
) {
  const outcomes = { cached: 'hit', replayed: 'idempotent-replay', failed: 'failed' } as const;
  return {
    ...range,
    accountId,
    mode,
    keyId: key,
    modelId: model,
    member,
    tag,
    weekHour: hour,
    durationMinMs: bounds.duration_min_ms,
    client: bounds.client?.toLowerCase(),
    code,
    paths: endpoint === undefined ? undefined : pathsOf(endpoint),
    outcomes: outcome === undefined || isCharged(outcome) ? undefined : [outcomes[outcome]],
  };
}

function pathsOf(endpoint: string): readonly string[] {
  return Object.keys(chargedEndpoints).filter((path) => chargedEndpointAt(path)?.name === endpoint);
}

/** `outcome`: of a logged request or of a sum, which has an error code instead of `failed`. */
export function outcomeOf(outcome: string): Outcome {
  if (outcome === 'hit') return 'cached';
  return outcome === 'idempotent-replay' ? 'replayed' : 'failed';
}
