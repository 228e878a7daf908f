// An account at a glance: its money, the last 30 days and recent errors.
import { listUncharged, type LoggedRequest, sumActivity } from '../domain/activity/queries.ts';
import type {
  Activity,
  ErrorCount,
  overviewEndpoints,
  RecentError,
} from '../dashboard-contract/overview.ts';
import { readKeyNames } from '../domain/keys/manage-keys.ts';
import { ledgerIdOf } from '../domain/ledger/commands.ts';
import { sumDays, sumRange } from '../domain/ledger/reports/daily-sums.ts';
import { listCharges, readBalance } from '../domain/ledger/reports/queries.ts';
import { readSpending } from '../domain/ledger/reports/spending.ts';
import type { DashboardContext } from './context.ts';
import { lastDays, toSeries } from './daily-costs.ts';
import type { Handlers } from './handlers.ts';
import { namesOfModels } from './model-names.ts';

const daysShown = 30;
const errorsShown = 10;

export const overviewHandlers: Handlers<typeof overviewEndpoints> = {
  'GET /accounts/:account/overview': async ({
    context,
    account: { accountId },
    query: { mode },
  }) => {
    const { database, gateway } = context;
    const nowMs = gateway.clock.nowMs();
    const ledgerId = ledgerIdOf(accountId, mode);
    const days = lastDays(nowMs, daysShown);
    const range = { fromDay: days[0]!, toDay: days.at(-1)! };
    const [balance, spending, newest, [charged], uncharged, errors] = await Promise.all([
      readBalance(database.read, ledgerId),
      readSpending(database.read, ledgerId, nowMs),
      listCharges(database.read, { ledgerId, limit: 1, cursor: null }),
      sumRange(database.read, { of: { ledgerId }, ...range, by: 'none' }),
      sumActivity(database.read, { accountId, mode, ...range, by: 'none' }),
      listUncharged(database.read, {
        accountId,
        mode,
        outcomes: ['failed'],
        limit: errorsShown,
      }),
    ]);
    return {
      balance: {
        available_micros: balance?.availableMicros ?? 0,
        held_micros: balance?.heldMicros ?? 0,
      },
      spent: { today_micros: spending?.todayMicros ?? 0, month_micros: spending?.monthMicros ?? 0 },
      has_charges: newest.charges.length > 0,
      activity: toActivity(charged, uncharged),
      errors: toErrorCounts(uncharged),
      recent_errors: await toRecentErrors(context, errors),
    };
  },

  'GET /accounts/:account/overview/costs': async ({
    context,
    account: { accountId },
    query: { mode, by },
  }) => {
    const { database, gateway } = context;
    const days = lastDays(gateway.clock.nowMs(), daysShown);
    const range = { fromDay: days[0]!, toDay: days.at(-1)! };
    const sums = await sumDays(database.read, {
      of: { ledgerId: ledgerIdOf(accountId, mode) },
      ...range,
      by,
    });
    const series = toSeries(sums, days);
    const ids = series.flatMap(({ id }) => (id === null ? [] : [id]));
    const names =
      by === 'key' ? await readKeyNames(database, ids) : namesOfModels(gateway.catalog, ids);
    return {
      days,
      series: series.map((one) => ({
        ...one,
        name: one.id === null ? null : (names.get(one.id) ?? null),
      })),
    };
  },
};

type Charged = Awaited<ReturnType<typeof sumRange>>[number] | undefined;
type Uncharged = Awaited<ReturnType<typeof sumActivity>>;

function toActivity(charged: Charged, uncharged: Uncharged): Activity {
  const requestsOf = (outcome: string) =>
    uncharged
      .filter((sum) => sum.outcome === outcome)
      .reduce((sum, { requests }) => sum + requests, 0);
  return {
    requests: charged?.requests ?? 0,
    input_tokens: charged?.inputTokens ?? 0,
    cached_tokens: charged?.cachedTokens ?? 0,
    output_tokens: charged?.outputTokens ?? 0,
    cost_micros: charged?.costMicros ?? 0,
    cache_hits: requestsOf('hit'),
    replays: requestsOf('idempotent-replay'),
    saved_micros: uncharged.reduce((sum, { savedMicros }) => sum + savedMicros, 0),
  };
}

const answered: readonly string[] = ['hit', 'idempotent-replay'];

function toErrorCounts(uncharged: Uncharged): readonly ErrorCount[] {
  return uncharged
    .filter(({ outcome }) => !answered.includes(outcome))
    .map(({ outcome, requests }) => ({ code: outcome, requests }))
    .toSorted((one, other) => other.requests - one.requests);
}

async function toRecentErrors(
  { database }: DashboardContext,
  errors: readonly LoggedRequest[],
): Promise<readonly RecentError[]> {
  const names = await readKeyNames(database, [...new Set(errors.map(({ keyId }) => keyId))]);
  return errors.map((error) => ({
    request_id: error.requestId,
    created_at: new Date(error.createdAtMs).toISOString(),
    code: error.code ?? 'internal_error',
    path: error.path,
    model: error.modelId === '' ? null : error.modelId,
    key: { id: error.keyId, name: names.get(error.keyId) ?? '' },
  }));
}
