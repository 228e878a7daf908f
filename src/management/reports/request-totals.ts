// Totals of the requests that match the filters, from the sums by day. There are no sums by
// provider, hour, member, cost, duration or client; with such a filter the totals are unknown, which is null.
import type { RequestTotals } from '../contract/requests.ts';
import type { Db } from '../../db/schema.ts';
import { sumActivity } from '../../domain/activity/queries.ts';
import { ledgerIdOf } from '../../domain/ledger/commands.ts';
import { sumRange } from '../../domain/ledger/reports/daily-sums.ts';
import { sumTags } from '../../domain/ledger/reports/tag-sums.ts';
import type { ManagementContext } from '../context.ts';
import { daysOf, isCharged, outcomeOf, type Filters, type Outcome } from './request-filters.ts';

/** Throws ApiError `invalid_request` for wrong days. */
export async function sumRequests(
  { database, gateway }: ManagementContext,
  accountId: string,
  filters: Filters,
): Promise<RequestTotals> {
  const { from, to } = daysOf(filters, gateway.clock.nowMs());
  const asked = { accountId, filters, days: { fromDay: from, toDay: to } };
  const [charged, uncharged] = await Promise.all([
    sumCharged(database.read, asked),
    sumUncharged(database.read, asked),
  ]);
  return { charged, uncharged };
}

type Asked = {
  readonly accountId: string;
  readonly filters: Filters;
  readonly days: { readonly fromDay: string; readonly toDay: string };
};

async function sumCharged(
  db: Db,
  { accountId, filters, days }: Asked,
): Promise<RequestTotals['charged']> {
  const { mode, key, model, endpoint, tag, outcome, code } = filters;
  if (isFinerThanSums(filters) || outcome !== undefined || code !== undefined) return null;
  if (tag !== undefined && endpoint !== undefined) return null;
  const ledgerId = ledgerIdOf(accountId, mode);
  const named = { keyId: key, modelId: model };
  const [sum] =
    tag === undefined
      ? await sumRange(
          db,
          { of: { ledgerId }, ...days, by: 'none', ...named, endpoint },
          { top: 1 },
        )
      : await sumTags(db, { ledgerId, ...days, by: 'tag', ...named }, { ids: [tag] });
  return {
    requests: sum?.requests ?? 0,
    input_tokens: sum?.inputTokens ?? 0,
    output_tokens: sum?.outputTokens ?? 0,
    cost_micros: sum?.costMicros ?? 0,
  };
}

async function sumUncharged(
  db: Db,
  { accountId, filters, days }: Asked,
): Promise<RequestTotals['uncharged']> {
  const { mode, key, model, endpoint, tag, outcome, code } = filters;
  if (isFinerThanSums(filters) || tag !== undefined || endpoint !== undefined) return null;
  if (outcome !== undefined && isCharged(outcome)) return null;
  const asked = { accountId, mode, ...days, by: 'none', keyId: key, modelId: model } as const;
  const sums = (await sumActivity(db, asked))
    .map((sum) => ({ ...sum, kind: outcomeOf(sum.outcome) }))
    .filter((sum) => (outcome ?? sum.kind) === sum.kind && (code ?? sum.outcome) === sum.outcome);
  const count = (kind: Outcome) =>
    sums.filter((sum) => sum.kind === kind).reduce((total, { requests }) => total + requests, 0);
  return {
    cached: count('cached'),
    replayed: count('replayed'),
    failed: count('failed'),
    saved_micros: sums.reduce((total, { savedMicros }) => total + savedMicros, 0),
  };
}

function isFinerThanSums({ provider, hour, member, client, ...bounds }: Filters): boolean {
  const {
    cost_min_micros: costMin,
    cost_max_micros: costMax,
    duration_min_ms: durationMin,
  } = bounds;
  return [provider, hour, member, client, costMin, costMax, durationMin].some(
    (one) => one !== undefined,
  );
}
