// Figures of any days, compared with as many days before. All are read from sums by day or hour, so
// the number of requests does not matter.
import type {
  Analytics,
  analyticsEndpoints,
  analyticsGroups,
  AnalyticsRow,
} from '../dashboard-contract/analytics.ts';
import {
  sumHours,
  sumLatencies,
  sumProviderDays,
  sumUnchargedTags,
  type ActivityRange,
} from '../domain/activity/analytics.ts';
import { type ActivitySum, sumActivity } from '../domain/activity/queries.ts';
import { readKeyMakers } from '../domain/audit/key-makers.ts';
import { readKeyNames } from '../domain/keys/manage-keys.ts';
import { ledgerIdOf } from '../domain/ledger/commands.ts';
import { sumDays, sumRange } from '../domain/ledger/reports/daily-sums.ts';
import { sumTags } from '../domain/ledger/reports/tag-sums.ts';
import {
  addToBucket,
  addUncharged,
  daysBetween,
  GroupSums,
  isRepeat,
  rangeBefore,
  toFigures,
  toSeries,
} from './analytics-sums.ts';
import type { DashboardContext } from './context.ts';
import type { Handlers } from './handlers.ts';
import { namesOfModels } from './model-names.ts';
import { checkDays } from './usage-pages.ts';

type Group = (typeof analyticsGroups)[number];
type Names = ReadonlyMap<string, string>;

const rowsMax = 200;
const hoursOfWeek = 168;

export const analyticsHandlers: Handlers<typeof analyticsEndpoints> = {
  'GET /accounts/:account/analytics': async ({ context, account, query }) => {
    const { mode, from, to, by } = query;
    checkDays(from, to);
    const before = rangeBefore(from, to);
    const own = { accountId: account.accountId, mode };
    const now = { ...own, fromDay: from, toDay: to };
    const earlier = { ...own, fromDay: before.from, toDay: before.to };
    const makers =
      by === 'member' ? await readKeyMakers(context.database.read, account.accountId) : null;
    const memberOf = (key: string) => makers?.get(key)?.id ?? '';
    const [sums, sumsBefore, errors, costs] = await Promise.all([
      sumGroups(context, now, by),
      sumGroups(context, earlier, by),
      sumActivity(context.database.read, { ...now, by: 'none' }),
      costsByDay(context, now, by),
    ]);
    const isMember = by === 'member';
    const groups = isMember ? sums.groups.regrouped(memberOf) : sums.groups;
    const groupsBefore = isMember ? sumsBefore.groups.regrouped(memberOf) : sumsBefore.groups;
    const series = toSeries(
      isMember ? costs.map((one) => ({ ...one, group: memberOf(one.group) })) : costs,
      daysBetween(from, to),
      { overlap: by === 'tag' },
    );
    const shown = groups.sorted.slice(0, rowsMax);
    const names = isMember
      ? new Map([...makers!.values()].map(({ id, name }) => [id, name]))
      : await readNames(
          context,
          by,
          shown.map(([id]) => id),
        );
    return {
      now: toFigures(sums.total),
      before: toFigures(sumsBefore.total),
      days: daysBetween(from, to),
      series: series.map(({ id, isRest, costs: amounts }) => ({
        id,
        name: nameOf(names, id),
        is_rest: isRest,
        cost_micros: amounts,
      })),
      rows: shown.map(([id, group]): AnalyticsRow => {
        const { costMicros, requests } = groupsBefore.of(id);
        return {
          id: id || null,
          name: nameOf(names, id),
          ...toFigures(group),
          before: { cost_micros: costMicros, requests },
        };
      }),
      errors: toErrors(errors),
    };
  },

  'GET /accounts/:account/analytics/hours': async ({ context, account, query }) => {
    const { mode, from, to } = query;
    checkDays(from, to);
    const range = { accountId: account.accountId, mode, fromDay: from, toDay: to };
    const requests = Array.from({ length: hoursOfWeek }, () => 0);
    const costs = [...requests];
    for (const sum of await sumHours(context.database.read, range)) {
      const time = new Date(`${sum.hour}:00:00Z`);
      const hour = time.getUTCDay() * 24 + time.getUTCHours();
      requests[hour]! += sum.requests;
      costs[hour]! += sum.costMicros;
    }
    return { requests, cost_micros: costs };
  },
};

/** Sums by model, key, provider or tag. A member's are those of the keys. */
async function sumGroups(
  context: DashboardContext,
  range: ActivityRange,
  by: Group,
): Promise<{ readonly groups: GroupSums; readonly total: ReturnType<() => GroupSums['total']> }> {
  if (by === 'provider' || by === 'tag') {
    const [groups, all] = await Promise.all([
      by === 'tag' ? sumByTag(context, range) : sumByProvider(context, range),
      sumByColumn(context, range, 'none'),
    ]);
    return { groups, total: all.total };
  }
  const groups = await sumByColumn(context, range, by === 'member' ? 'key' : by);
  return { groups, total: groups.total };
}

async function sumByColumn(
  { database: { read } }: DashboardContext,
  range: ActivityRange,
  by: 'none' | 'model' | 'key',
): Promise<GroupSums> {
  const { accountId, mode, fromDay, toDay } = range;
  const [charged, uncharged, latencies] = await Promise.all([
    sumRange(read, { of: { ledgerId: ledgerIdOf(accountId, mode) }, fromDay, toDay, by }),
    sumActivity(read, { ...range, by }),
    sumLatencies(read, { ...range, by }),
  ]);
  const groups = new GroupSums();
  for (const sum of charged) {
    const sums = groups.of(sum.group);
    sums.costMicros += sum.costMicros;
    sums.requests += sum.requests;
    sums.inputTokens += sum.inputTokens;
    sums.outputTokens += sum.outputTokens;
  }
  for (const sum of uncharged) addUncharged(groups.of(sum.group), sum);
  for (const { group, kind, bucket, requests } of latencies)
    addToBucket(groups.of(group)[kind], bucket, requests);
  return groups;
}

async function sumByProvider(
  { database: { read } }: DashboardContext,
  range: ActivityRange,
): Promise<GroupSums> {
  const [days, latencies] = await Promise.all([
    sumProviderDays(read, range),
    sumLatencies(read, { ...range, by: 'provider' }),
  ]);
  const groups = new GroupSums();
  for (const { provider, ...sum } of days) {
    const sums = groups.of(provider);
    sums.costMicros += sum.costMicros;
    sums.requests += sum.requests;
    sums.inputTokens += sum.inputTokens;
    sums.outputTokens += sum.outputTokens;
    sums.errors += sum.errors;
  }
  for (const { group, kind, bucket, requests } of latencies)
    addToBucket(groups.of(group)[kind], bucket, requests);
  return groups;
}

async function sumByTag(
  { database: { read } }: DashboardContext,
  range: ActivityRange,
): Promise<GroupSums> {
  const { accountId, mode, fromDay, toDay } = range;
  const [charged, uncharged] = await Promise.all([
    sumTags(read, { ledgerId: ledgerIdOf(accountId, mode), fromDay, toDay, by: 'tag' }),
    sumUnchargedTags(read, range),
  ]);
  const groups = new GroupSums();
  for (const { tag, costMicros, requests, inputTokens, outputTokens } of charged) {
    const sums = groups.of(tag);
    Object.assign(sums, { costMicros: Number(costMicros), requests, inputTokens, outputTokens });
  }
  for (const sum of uncharged) addUncharged(groups.of(sum.group), sum);
  return groups;
}

/** By key for members. */
async function costsByDay(
  { database: { read } }: DashboardContext,
  range: ActivityRange,
  by: Group,
) {
  const { accountId, mode, fromDay, toDay } = range;
  const ledgerId = ledgerIdOf(accountId, mode);
  if (by === 'tag') {
    const sums = await sumTags(read, { ledgerId, fromDay, toDay, by: 'day-and-tag' });
    return sums.map((sum) => ({ ...sum, group: sum.tag }));
  }
  if (by === 'provider') {
    const sums = await sumProviderDays(read, range);
    return sums.map((sum) => ({ ...sum, group: sum.provider }));
  }
  return sumDays(read, {
    of: { ledgerId },
    fromDay,
    toDay,
    by: by === 'member' ? 'key' : by,
  });
}

/** Providers and tags are their own names. */
async function readNames(
  { database, gateway }: DashboardContext,
  by: Group,
  ids: readonly string[],
): Promise<Names> {
  if (by === 'key') return readKeyNames(database, ids);
  return by === 'model' ? namesOfModels(gateway.catalog, ids) : new Map(ids.map((id) => [id, id]));
}

function nameOf(names: Names, id: string | null): string | null {
  return (id && names.get(id)) || null;
}

function toErrors(sums: readonly ActivitySum[]): Analytics['errors'] {
  return sums
    .filter(({ outcome }) => !isRepeat(outcome))
    .map(({ outcome, requests }) => ({ code: outcome, requests }))
    .toSorted((one, other) => other.requests - one.requests);
}
