// Turns sums by day and group into chart series: one value per day, the most expensive groups each
// as a series, the others combined.
import type { CostSeries } from '../dashboard-contract/overview.ts';

type DayOfGroup = { readonly day: string; readonly group: string; readonly costMicros: number };

const seriesMax = 8;
const dayMs = 86_400_000;

/**
 * Returns the last `count` UTC days, oldest first, ending with the day of `nowMs`: `['2026-11-21',
 * '2026-11-22']`.
 */
export function lastDays(nowMs: number, count: number): string[] {
  return Array.from({ length: count }, (_, place) =>
    new Date(nowMs - (count - 1 - place) * dayMs).toISOString().slice(0, 10),
  );
}

/** Returns the series, most expensive first, without names. Groups without cost are left out. */
export function toSeries(
  sums: readonly DayOfGroup[],
  days: readonly string[],
): readonly Omit<CostSeries, 'name'>[] {
  const groups = [...Map.groupBy(sums, ({ group }) => group)]
    .map(([id, ofGroup]) => ({ id, cost_micros: byDay(ofGroup, days) }))
    .filter((series) => totalOf(series) > 0)
    .toSorted((one, other) => totalOf(other) - totalOf(one) || (one.id < other.id ? -1 : 1));
  // A single remaining group is shown by itself.
  if (groups.length <= seriesMax + 1) return groups;
  const ids = new Set(groups.slice(0, seriesMax).map(({ id }) => id));
  const rest = sums.filter(({ group }) => !ids.has(group));
  return [...groups.slice(0, seriesMax), { id: null, cost_micros: byDay(rest, days) }];
}

function byDay(sums: readonly DayOfGroup[], days: readonly string[]): number[] {
  const costs = new Map<string, number>();
  for (const { day, costMicros } of sums) costs.set(day, (costs.get(day) ?? 0) + costMicros);
  return days.map((day) => costs.get(day) ?? 0);
}

function totalOf({ cost_micros: costs }: { readonly cost_micros: readonly number[] }): number {
  return costs.reduce((sum, cost) => sum + cost, 0);
}
