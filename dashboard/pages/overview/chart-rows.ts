// Data and labels of the cost chart.
import type { Output } from '../../api/client.ts';

type Costs = Output<'GET /accounts/:account/overview/costs'>;
type Series = Costs['series'][number];

/** Colours of the series, in this order. They can be distinguished with colour blindness. */
export const chartColors = [
  '#4d76e4',
  '#1d9e8d',
  '#e0a030',
  '#c9527c',
  '#8a63d2',
  '#5f9e3f',
  '#38a3d1',
  '#b5744a',
  '#7c8798',
] as const;

/**
 * Returns one row per day: `{ day: '2026-11-22', s0: 12, s2: 5 }`. Zeros are left out to keep
 * tooltips short.
 */
export function chartRows({ days, series }: Costs): Record<string, string | number>[] {
  return days.map((day, dayIndex) => ({
    day,
    ...Object.fromEntries(
      series.flatMap(({ cost_micros: costs }, index) =>
        costs[dayIndex] ? [[`s${index}`, costs[dayIndex]] as const] : [],
      ),
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

/** Formats a UTC day: `Nov 22`. */
export function tickText(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString(undefined, {
    month: 'short',
    day: 'numeric',
    timeZone: 'UTC',
  });
}
