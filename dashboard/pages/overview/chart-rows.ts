// Series by day as the chart takes them, and the words beside it.
import type { Output } from '../../api/client.ts';

type Costs = Output<'GET /accounts/:account/overview/costs'>;
type Series = Costs['series'][number];

/** One row a day: `{ day: '2026-11-22', s0: 12, s2: 5 }`. What is nothing is left out, so that a tooltip names only what there is. */
export function chartRows({ days, series }: Costs): Record<string, string | number>[] {
  return days.map((day, place) => ({
    day,
    ...Object.fromEntries(
      series.flatMap(({ cost_micros: costs }, index) => (costs[place] ? [[`s${index}`, costs[place]] as const] : [])),
    ),
  }));
}

export function seriesLabel({ id, name }: Series): string {
  if (id === null) return 'All others';
  return name || id;
}

export function totalMicros({ cost_micros: costs }: Series): number {
  return costs.reduce((sum, cost) => sum + cost, 0);
}

/** `Nov 22`, of a UTC day. */
export function tickText(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });
}
