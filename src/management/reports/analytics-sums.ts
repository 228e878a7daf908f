// Adds sums of charges, uncharged requests and latencies to figures by group. Pure.
import type { AnalyticsFigures } from '../contract/analytics.ts';
import { type Latency, latencyOf } from '../../domain/activity/latency.ts';
import { isReplay } from '../../events/request-fields.ts';
import type { ActivitySum } from '../../domain/activity/queries.ts';
import { snakeCase } from '../../lib/snake-case.ts';
import { dayMs, dayOf } from '../../lib/utc-time.ts';

/** Requests by bucket of a histogram. */
type Histogram = Map<number, number>;

export type Sums = ReturnType<typeof noSums>;

export class GroupSums {
  readonly #groups = new Map<string, Sums>();

  /** Returns the sums of a group, to add to. */
  of(group: string): Sums {
    const known = this.#groups.get(group);
    if (known) return known;
    const sums = noSums();
    this.#groups.set(group, sums);
    return sums;
  }

  /** Returns the sums by group, highest cost first, then most requests. */
  get sorted(): readonly (readonly [group: string, sums: Sums])[] {
    return [...this.#groups].toSorted(
      ([id, one], [otherId, other]) =>
        other.costMicros - one.costMicros ||
        other.requests - one.requests ||
        (id < otherId ? -1 : 1),
    );
  }
}

function noSums() {
  return {
    costMicros: 0,
    requests: 0,
    inputTokens: 0,
    outputTokens: 0,
    errors: 0,
    cached: 0,
    savedMicros: 0,
    first: new Map() as Histogram,
    whole: new Map() as Histogram,
  };
}

const added = [
  'costMicros',
  'requests',
  'inputTokens',
  'outputTokens',
  'errors',
  'cached',
  'savedMicros',
] as const;

/** Returns the total without these groups. They may be read later, so no figure is below 0. */
export function restOf(
  total: Sums,
  groups: readonly (readonly [group: string, sums: Sums])[],
): Sums {
  const rest = { ...total, first: new Map(total.first), whole: new Map(total.whole) };
  for (const [, sums] of groups) {
    for (const name of added) rest[name] = Math.max(0, rest[name] - sums[name]);
    for (const kind of ['first', 'whole'] as const)
      for (const [bucket, requests] of sums[kind])
        rest[kind].set(bucket, Math.max(0, (rest[kind].get(bucket) ?? 0) - requests));
  }
  return rest;
}

export function addToBucket(histogram: Histogram, bucket: number, requests: number): void {
  histogram.set(bucket, (histogram.get(bucket) ?? 0) + requests);
}

/** Adds requests of an outcome. */
export function addOutcome(
  sums: Sums,
  { outcome, requests, savedMicros }: Pick<ActivitySum, 'outcome' | 'requests' | 'savedMicros'>,
): void {
  const [cached, errors] = isReplay(outcome) ? [requests, 0] : [0, requests];
  addUncharged(sums, { cached, errors, savedMicros });
}

export function addUncharged(
  sums: Sums,
  { errors, cached, savedMicros }: Pick<Sums, 'errors' | 'cached' | 'savedMicros'>,
): void {
  sums.requests += errors + cached;
  sums.errors += errors;
  sums.cached += cached;
  sums.savedMicros += savedMicros;
}

export function toFigures({ first, whole, ...counts }: Sums): AnalyticsFigures {
  return {
    ...snakeCase(counts),
    first_token: showLatency(latencyOf(first)),
    duration: showLatency(latencyOf(whole)),
  };
}

export function showLatency(latency: Latency | null): AnalyticsFigures['duration'] {
  return latency && { p50_ms: latency.p50Ms, p95_ms: latency.p95Ms };
}

export type DayCost = { readonly day: string; readonly group: string; readonly costMicros: number };
type CostSeries = {
  readonly id: string | null;
  readonly isRest: boolean;
  readonly costs: readonly number[];
};

const seriesMax = 5;
/** The groups with the highest cost that `toSeries` needs. */
export const seriesRead = seriesMax + 2;

/**
 * Returns a cost for each day: of the five groups with the highest cost, and of all others together.
 * `totals`: the costs of all groups by day. Groups without cost are left out; the group '' has no id.
 */
export function toSeries(
  costs: readonly DayCost[],
  days: readonly string[],
  totals: readonly DayCost[],
): readonly CostSeries[] {
  const byDay = (rows: readonly DayCost[]) => toDayCosts(rows, days);
  const total = (sums: readonly number[]) => sums.reduce((sum, cost) => sum + cost, 0);
  const groups = [...Map.groupBy(costs, ({ group }) => group)]
    .map(([id, rows]) => ({ id, costs: byDay(rows) }))
    .filter((group) => total(group.costs) > 0)
    .toSorted(
      (one, other) => total(other.costs) - total(one.costs) || (one.id < other.id ? -1 : 1),
    );
  // A single remaining group is shown by itself.
  const shown = groups.length === seriesMax + 1 ? groups : groups.slice(0, seriesMax);
  const rest = byDay(totals).map((cost, place) =>
    shown.reduce((left, group) => left - group.costs[place]!, cost),
  );
  return [
    ...shown.map((group) => ({ id: group.id || null, isRest: false, costs: group.costs })),
    ...(total(rest) === 0 ? [] : [{ id: null, isRest: true, costs: rest }]),
  ];
}

/** Returns a cost for each day. */
export function toDayCosts(rows: readonly DayCost[], days: readonly string[]): number[] {
  const sums = new Map<string, number>();
  for (const { day, costMicros } of rows) sums.set(day, (sums.get(day) ?? 0) + costMicros);
  return days.map((day) => sums.get(day) ?? 0);
}

/** Returns the UTC days from the first to the last. */
export function daysBetween(from: string, to: string): readonly string[] {
  const firstMs = Date.parse(from);
  const count = (Date.parse(to) - firstMs) / dayMs + 1;
  return Array.from({ length: count }, (_, index) => dayOf(firstMs + index * dayMs));
}

/** Returns the hours of a UTC day: `2026-11-21T00`. */
export function hoursOf(day: string): readonly string[] {
  return Array.from({ length: 24 }, (_, hour) => `${day}T${String(hour).padStart(2, '0')}`);
}

/** Returns as many days before these. */
export function rangeBefore(
  from: string,
  to: string,
): { readonly from: string; readonly to: string } {
  const firstMs = Date.parse(from);
  const lengthMs = Date.parse(to) - firstMs + dayMs;
  return { from: dayOf(firstMs - lengthMs), to: dayOf(firstMs - dayMs) };
}
