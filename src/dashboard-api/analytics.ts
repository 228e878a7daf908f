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
import { readKeyNames } from '../domain/keys/manage-keys.ts';
import { ledgerIdOf } from '../domain/ledger/commands.ts';
import { sumDays, sumRange } from '../domain/ledger/reports/daily-sums.ts';
import { sumTags } from '../domain/ledger/reports/tag-sums.ts';
import {
  addToBucket,
  addUncharged,
  type DayCost,
  daysBetween,
  GroupSums,
  isRepeat,
  rangeBefore,
  type Sums,
  toFigures,
  toSeries,
} from './analytics-sums.ts';
import type { DashboardContext } from './context.ts';
import type { Handlers } from './handlers.ts';
import { readKeyMembers } from './key-members.ts';
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
    const members =
      by === 'member' ? await readKeyMembers(context.database, account.accountId) : null;
    const memberOf = (key: string) => members?.get(key)?.id ?? '';
    const [sums, sumsBefore] = await Promise.all([
      sumGroups(context, { range: now, by, isCompared: false }),
      sumGroups(context, { range: earlier, by, isCompared: true }),
    ]);
    const { costs, uncharged } = sums;
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
      ? new Map([...members!.values()].map(({ id, name }) => [id, name]))
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
      errors: toErrors(uncharged),
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

type Wanted = {
  readonly range: ActivityRange;
  readonly by: Group;
  /** True: nothing by day, and only the total has latencies. */
  readonly isCompared: boolean;
};

type Read = {
  readonly groups: GroupSums;
  readonly total: Sums;
  /** By day, unless the sums are only compared. */
  readonly costs: readonly DayCost[];
  readonly uncharged: readonly ActivitySum[];
};

/** Sums by model, key, provider or tag. A member's are those of the keys. */
async function sumGroups(context: DashboardContext, wanted: Wanted): Promise<Read> {
  const { range, by, isCompared } = wanted;
  const { read } = context.database;
  const column = by === 'member' ? 'key' : by;
  const overall = addLatencies(new GroupSums(), await sumLatencies(read, { ...range, by: 'none' }));
  const { groups, total, costs, uncharged } =
    column === 'provider' || column === 'tag'
      ? await sumBeside(context, wanted, column)
      : await sumByColumn(context, wanted, column);
  if (!isCompared) addLatencies(groups, await sumLatencies(read, { ...range, by: column }));
  return { groups, total: { ...total, ...latenciesOf(overall) }, costs, uncharged };
}

/** The ledger has no sums by provider, and those by tag overlap: the total is read by itself. */
async function sumBeside(
  context: DashboardContext,
  wanted: Wanted,
  column: 'provider' | 'tag',
): Promise<Read> {
  const [{ groups, costs }, { total, uncharged }] = await Promise.all([
    column === 'tag' ? sumByTag(context, wanted) : sumByProvider(context, wanted),
    sumByColumn(context, { ...wanted, isCompared: true }, 'none'),
  ]);
  return { groups, total, costs, uncharged };
}

type Latencies = Awaited<ReturnType<typeof sumLatencies>>;

function addLatencies(groups: GroupSums, latencies: Latencies): GroupSums {
  for (const { group, kind, bucket, requests } of latencies)
    addToBucket(groups.of(group)[kind], bucket, requests);
  return groups;
}

function latenciesOf(groups: GroupSums): Pick<Sums, 'first' | 'whole'> {
  const { first, whole } = groups.of('');
  return { first, whole };
}

async function sumByColumn(
  { database: { read } }: DashboardContext,
  { range, isCompared }: Wanted,
  by: 'none' | 'model' | 'key',
): Promise<Read> {
  const { accountId, mode, fromDay, toDay } = range;
  const query = { of: { ledgerId: ledgerIdOf(accountId, mode) }, fromDay, toDay, by };
  const [costs, uncharged] = await Promise.all([
    isCompared
      ? sumRange(read, query).then((sums) => sums.map((sum) => ({ ...sum, day: '' })))
      : sumDays(read, query),
    sumActivity(read, { ...range, by }),
  ]);
  const groups = addCharged(costs);
  const { total } = groups;
  for (const sum of uncharged) {
    addUncharged(groups.of(sum.group), sum);
    addUncharged(total, sum);
  }
  return { groups, total, costs, uncharged };
}

type ChargedSum = DayCost & {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
};

function addCharged(rows: readonly ChargedSum[]): GroupSums {
  const groups = new GroupSums();
  for (const row of rows) {
    const sums = groups.of(row.group);
    sums.costMicros += row.costMicros;
    sums.requests += row.requests;
    sums.inputTokens += row.inputTokens;
    sums.outputTokens += row.outputTokens;
  }
  return groups;
}

type OfGroups = Pick<Read, 'groups' | 'costs'>;

async function sumByProvider(
  { database: { read } }: DashboardContext,
  { range }: Wanted,
): Promise<OfGroups> {
  const days = await sumProviderDays(read, range);
  const costs = days.map((sum) => ({ ...sum, group: sum.provider }));
  const groups = addCharged(costs);
  for (const { group, errors } of costs) groups.of(group).errors += errors;
  return { groups, costs };
}

async function sumByTag(
  { database: { read } }: DashboardContext,
  { range, isCompared }: Wanted,
): Promise<OfGroups> {
  const { accountId, mode, fromDay, toDay } = range;
  const ledgerId = ledgerIdOf(accountId, mode);
  const by = isCompared ? 'tag' : 'day-and-tag';
  const [sums, uncharged] = await Promise.all([
    sumTags(read, { ledgerId, fromDay, toDay, by }),
    sumUnchargedTags(read, range),
  ]);
  const costs = sums.map((sum) => ({ ...sum, group: sum.tag }));
  const groups = addCharged(costs);
  for (const sum of uncharged) addUncharged(groups.of(sum.group), sum);
  return { groups, costs };
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
  const errors = new Map<string, number>();
  for (const { outcome, requests } of sums)
    if (!isRepeat(outcome)) errors.set(outcome, (errors.get(outcome) ?? 0) + requests);
  return [...errors]
    .map(([code, requests]) => ({ code, requests }))
    .toSorted((one, other) => other.requests - one.requests);
}
