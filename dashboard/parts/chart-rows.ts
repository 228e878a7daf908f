// Data and labels of the cost chart.
import type { Output } from '../api/client.ts';

type Costs = Pick<Output<'GET /accounts/:account/analytics'>, 'days' | 'series'>;
type Series = Costs['series'][number];

/** Colours of the series, in this order. They can be distinguished with colour blindness. */
const colors = ['#4d76e4', '#1d9e8d', '#e0a030', '#c9527c', '#8a63d2', '#5f9e3f'] as const;
const restColor = '#7c8798';

export function seriesColor({ is_rest: isRest }: Series, index: number): string {
  return isRest ? restColor : colors[index % colors.length]!;
}

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

export function seriesLabel({ id, name, is_rest: isRest }: Series): string {
  if (isRest) return 'All others';
  return name ?? id ?? 'None';
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
