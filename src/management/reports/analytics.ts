// Figures of any days, compared with as many days before. All are read from sums by day or hour, so
// the number of requests does not matter; nor does the number of keys and tags, because the database
// chooses the groups that are shown.
import type {
  Analytics,
  analyticsEndpoints,
  analyticsGroups,
  AnalyticsRow,
} from '../contract/analytics.ts';
import {
  sumHours,
  sumLatencies,
  sumProviderDays,
  sumUncharged,
  type ActivityRange,
} from '../../domain/activity/analytics.ts';
import type { Db } from '../../db/schema.ts';
import { nameOfTag } from '../../domain/activity/measured-tags.ts';
import { isReplay } from '../../events/request-fields.ts';
import { type ActivitySum, sumActivity } from '../../domain/activity/queries.ts';
import { readKeyNames } from '../../domain/keys/manage-keys.ts';
import { ledgerIdOf } from '../../domain/ledger/commands.ts';
import { firstChargedDay, sumDays, sumRange } from '../../domain/ledger/reports/daily-sums.ts';
import { sumTags } from '../../domain/ledger/reports/tag-sums.ts';
import {
  addOutcome,
  addToBucket,
  addUncharged,
  type DayCost,
  daysBetween,
  hoursOf,
  GroupSums,
  rangeBefore,
  restOf,
  seriesRead,
  type Sums,
  toDayCosts,
  toFigures,
  toSeries,
} from './analytics-sums.ts';
import type { ManagementContext } from '../context.ts';
import type { Handlers } from '../handlers.ts';
import { readMemberNames } from './key-members.ts';
import { namesOfModels } from './model-names.ts';
import { checkDays } from './days.ts';

type Group = (typeof analyticsGroups)[number];
type Names = ReadonlyMap<string, string>;

const rowsMax = 200;
const hoursOfWeek = 168;
/** Costs by day of the rows: those of 100 rows in a month. */
const dayCostsMax = 3_100;

export const analyticsHandlers: Handlers<typeof analyticsEndpoints> = {
  'GET /accounts/:account/analytics': async ({ context, params, query }) => {
    const { mode, from, to, by, tag_name: askedName } = query;
    checkDays(from, to);
    const { read } = context.database;
    const accountId = params.account;
    const days = rangeBefore(from, to);
    const now = { accountId, mode, fromDay: from, toDay: to };
    const before = { accountId, mode, fromDay: days.from, toDay: days.to };
    const { total, uncharged } = await sumTotal(read, now);
    const { total: totalBefore } = await sumTotal(read, before);
    const top = await findTop(read, now, by);
    const groups = await sumGroups(read, now, { by, ids: top });
    const all = groups.sorted;
    const shown = all.slice(0, rowsMax);
    const ids = shown.map(([id]) => id);
    addLatencies(groups, await sumLatencies(read, now, by, ids));
    const groupsBefore = await sumGroups(read, before, { by, ids });
    const names = await readNames(context, accountId, { by, ids });
    const allDays = daysBetween(from, to);
    const tagName = by === 'tag' ? (askedName ?? (ids[0] ? nameOfTag(ids[0]) : null)) : null;
    const ofName = by === 'tag' ? ids.filter((id) => nameOfTag(id) === tagName) : ids;
    const inSeries = new Set(ofName.slice(0, seriesRead));
    const measured = inSeries.union(
      new Set(ids.slice(0, Math.floor(dayCostsMax / allDays.length))),
    );
    const { costs, totals } = await readDayCosts(read, now, { by, ids: [...measured] });
    const costsOf = Map.groupBy(costs, ({ group }) => group);
    const rows = shown.map(([id, group]) =>
      toRow(
        { id: id || null, name: nameOf(names, id), is_rest: false },
        group,
        groupsBefore.of(id),
        measured.has(id) ? toDayCosts(costsOf.get(id) ?? [], allDays) : null,
      ),
    );
    // Tags overlap, so they have no rest.
    if (all.length > rowsMax && by !== 'tag')
      rows.push(
        toRow(
          { id: null, name: null, is_rest: true },
          restOf(total, shown),
          restOf(totalBefore, groupsBefore.sorted),
          null,
        ),
      );
    return {
      now: toFigures(total),
      before: toFigures(totalBefore),
      days: allDays,
      series: toSeries(
        costs.filter(({ group }) => inSeries.has(group)),
        allDays,
        totals,
      ).map(({ id, isRest, costs: amounts }) => ({
        id,
        name: nameOf(names, id),
        is_rest: isRest,
        cost_micros: amounts,
      })),
      tag_name: tagName,
      rows,
      errors: toErrors(uncharged),
      began_on: await firstChargedDay(read, ofLedger(now).of),
    };
  },

  'GET /accounts/:account/analytics/days': async ({ context, params, query }) => {
    const { mode, from, to } = query;
    checkDays(from, to);
    const { read } = context.database;
    const earlier = rangeBefore(from, to);
    const range = { accountId: params.account, mode, fromDay: earlier.from, toDay: to };
    const all = daysBetween(earlier.from, to);
    const sums = new GroupSums();
    const charged = await sumDays(read, { ...ofLedger(range), by: 'none', ids: [''] });
    addCharged(
      sums,
      charged.map((sum) => ({ ...sum, group: sum.day })),
    );
    for (const sum of await sumActivity(read, { ...range, by: 'day' }))
      addOutcome(sums.of(sum.group), sum);
    addLatencies(sums, await sumLatencies(read, range, 'period', all));
    const figures = all.map((day) => toFigures(sums.of(day)));
    const count = all.length / 2;
    return { days: all.slice(count), now: figures.slice(count), before: figures.slice(0, count) };
  },

  'GET /accounts/:account/analytics/hours': async ({ context, params, query }) => {
    const { mode, from, to } = query;
    checkDays(from, to);
    const range = { accountId: params.account, mode, fromDay: from, toDay: to };
    const requests = Array.from({ length: hoursOfWeek }, () => 0);
    const costs = [...requests];
    const { read } = context.database;
    const byHour = new GroupSums();
    for (const sum of await sumHours(read, range)) {
      byHour.of(sum.hour).requests = sum.requests;
      byHour.of(sum.hour).errors = sum.errors;
      const time = new Date(`${sum.hour}:00:00Z`);
      const hour = time.getUTCDay() * 24 + time.getUTCHours();
      requests[hour]! += sum.requests;
      costs[hour]! += sum.costMicros;
    }
    const days = daysBetween(from, to);
    if (days.length > 2) return { requests, cost_micros: costs, hours: null };
    const hours = days.flatMap(hoursOf);
    addLatencies(byHour, await sumLatencies(read, range, 'period', hours));
    return {
      requests,
      cost_micros: costs,
      hours: hours.map((hour) => {
        const { requests: count, errors, first_token, duration } = toFigures(byHour.of(hour));
        return { hour, requests: count, errors, first_token, duration };
      }),
    };
  },
};

async function sumTotal(
  db: Db,
  range: ActivityRange,
): Promise<{ readonly total: Sums; readonly uncharged: readonly ActivitySum[] }> {
  const groups = new GroupSums();
  const [charged, uncharged, latencies] = await Promise.all([
    sumRange(db, { ...ofLedger(range), by: 'none' }, { top: 1 }),
    sumActivity(db, { ...range, by: 'none' }),
    sumLatencies(db, range, 'none', ['']),
  ]);
  addCharged(groups, charged);
  for (const sum of uncharged) addOutcome(groups.of(''), sum);
  addLatencies(groups, latencies);
  return { total: groups.of(''), uncharged };
}

function ofLedger({ accountId, mode, fromDay, toDay }: ActivityRange) {
  const ledgerId = ledgerIdOf(accountId, mode);
  return { of: { ledgerId }, ledgerId, fromDay, toDay };
}

/** Returns the groups that may be shown: those with the highest costs, and with the most requests. */
async function findTop(db: Db, range: ActivityRange, by: Group): Promise<readonly string[]> {
  const which = { top: rowsMax + 1 };
  const charged = await sumCharged(db, range, by, which);
  const uncharged = by === 'provider' ? [] : await sumUncharged(db, range, by, which);
  return [...new Set([...charged, ...uncharged].map(({ group }) => group))];
}

type Groups = { readonly by: Group; readonly ids: readonly string[] };

/** Latencies are not in the sums. */
async function sumGroups(db: Db, range: ActivityRange, { by, ids }: Groups): Promise<GroupSums> {
  const groups = new GroupSums();
  addCharged(groups, await sumCharged(db, range, by, { ids }));
  if (by !== 'provider')
    for (const sum of await sumUncharged(db, range, by, { ids }))
      addUncharged(groups.of(sum.group), sum);
  return groups;
}

type ChargedSum = {
  readonly group: string;
  readonly costMicros: number;
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Only by provider: the others have errors by themselves. */
  readonly errors?: number;
};
type Which = { readonly top: number } | { readonly ids: readonly string[] };

/** The ledger has no sums by provider, of which there are few. */
async function sumCharged(
  db: Db,
  range: ActivityRange,
  by: Group,
  which: Which,
): Promise<readonly ChargedSum[]> {
  if (by === 'provider') return sumProviderDays(db, range);
  return by === 'tag'
    ? sumTags(db, { ...ofLedger(range), by }, which)
    : sumRange(db, { ...ofLedger(range), by }, which);
}

/** Returns costs by day of some groups, and of all together. */
async function readDayCosts(
  db: Db,
  range: ActivityRange,
  { by, ids }: Groups,
): Promise<{ readonly costs: readonly DayCost[]; readonly totals: readonly DayCost[] }> {
  const ledger = ofLedger(range);
  if (by === 'provider') {
    const costs = await sumProviderDays(db, range);
    return { costs, totals: costs };
  }
  const costs =
    by === 'tag'
      ? await sumTags(db, { ...ledger, by: 'day-and-tag' }, { ids })
      : await sumDays(db, { ...ledger, by, ids });
  // Read last, so that they are not less than the parts.
  return { costs, totals: await sumDays(db, { ...ledger, by: 'none', ids: [''] }) };
}

type Latencies = Awaited<ReturnType<typeof sumLatencies>>;

function addLatencies(groups: GroupSums, latencies: Latencies): void {
  for (const { group, kind, bucket, requests } of latencies)
    addToBucket(groups.of(group)[kind], bucket, requests);
}

function addCharged(groups: GroupSums, rows: readonly ChargedSum[]): void {
  for (const row of rows) {
    const sums = groups.of(row.group);
    sums.costMicros += row.costMicros;
    sums.requests += row.requests;
    sums.inputTokens += row.inputTokens;
    sums.outputTokens += row.outputTokens;
    sums.errors += row.errors ?? 0;
  }
}

function toRow(
  group: Pick<AnalyticsRow, 'id' | 'name' | 'is_rest'>,
  sums: Sums,
  { costMicros, requests }: Sums,
  dayCosts: AnalyticsRow['day_costs_micros'],
): AnalyticsRow {
  const before = { cost_micros: costMicros, requests };
  return { ...group, ...toFigures(sums), before, day_costs_micros: dayCosts };
}

/** Providers and tags are their own names. */
async function readNames(
  { database, gateway }: ManagementContext,
  accountId: string,
  { by, ids }: Groups,
): Promise<Names> {
  if (by === 'member') return readMemberNames(database.read, accountId, ids);
  if (by === 'key') return readKeyNames(database.read, ids);
  return by === 'model'
    ? namesOfModels(gateway.hosts.catalog, ids)
    : new Map(ids.map((id) => [id, id]));
}

function nameOf(names: Names, id: string | null): string | null {
  return (id && names.get(id)) || null;
}

function toErrors(sums: readonly ActivitySum[]): Analytics['errors'] {
  const errors = new Map<string, number>();
  for (const { outcome, requests } of sums)
    if (!isReplay(outcome)) errors.set(outcome, (errors.get(outcome) ?? 0) + requests);
  return [...errors]
    .map(([code, requests]) => ({ code, requests }))
    .toSorted((one, other) => other.requests - one.requests);
}
