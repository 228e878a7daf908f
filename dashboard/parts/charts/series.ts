// A chart's data: whole numbers by day or hour, and the sums of the period before.
import type { Output } from '../../api/client.ts';
import { dayText } from '../time-text.ts';
import { daysBefore, daysIn } from '../utc-days.ts';

/** A day or an hour. `tick` is its short name; `before` names the one it is compared with. */
export type Point = { readonly tick: string; readonly title: string; readonly before: string };

export type Series = {
  readonly label: string;
  readonly color: string;
  readonly dash?: string;
  /** A whole number for each point; null: nothing was measured. */
  readonly values: readonly (number | null)[];
};

export type ChartProps = {
  readonly label: string;
  readonly points: readonly Point[];
  readonly series: readonly Series[];
  /** Bars stand on each other; lines do not. */
  readonly shape: 'bars' | 'lines';
  /** The sums of as many days or hours before; null: there is nothing to compare with. */
  readonly before?: Series | null;
  readonly format: (value: number) => string;
  readonly height?: number;
};

/** Colours of the series, in this order. They can be distinguished with colour blindness. */
export const colors = ['#4d76e4', '#1d9e8d', '#c07f14', '#c9527c', '#8a63d2', '#5f9e3f'] as const;
const restColor = '#7c8798';

type Costs = Pick<Output<'GET /accounts/:account/analytics'>, 'series' | 'tag_name'>;

/** Returns the costs of the groups. The values of a tag name are labelled without the name. */
export function costSeries({ series, tag_name: tagName }: Costs): Series[] {
  return series.map((group, index) => ({
    label: labelOf(group, tagName),
    color: group.is_rest ? restColor : colors[index % colors.length]!,
    values: group.cost_micros,
  }));
}

function labelOf({ id, name, is_rest: isRest }: Costs['series'][number], tagName: string | null) {
  if (tagName !== null) return isRest ? 'Other requests' : id!.replace(`${tagName}=`, '');
  return isRest ? 'All others' : (name ?? id ?? 'None');
}

/** Returns the dashed line of the time before: `Cost before`. */
export function beforeSeries(label: string, values: readonly number[]): Series {
  return { label, color: restColor, dash: '5 4', values };
}

/** Names a series within its chart: two keys may have one name. */
export const keyOf = ({ label, color }: Series) => `${color} ${label}`;

/** Formats the figure of a point: a dash when nothing was measured. */
export function textAt({ values }: Series, index: number, format: ChartProps['format']): string {
  const value = values[index] ?? null;
  return value === null ? '–' : format(value);
}

export function sumOf({ values }: Series): number {
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

/** Returns the sum of all series at each point. */
export function totalsOf({ points, series }: Pick<ChartProps, 'points' | 'series'>): number[] {
  return points.map((_, index) =>
    series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0),
  );
}

export function dayPoints(days: readonly string[]): Point[] {
  const earlier = daysIn(daysBefore({ from: days[0]!, to: days.at(-1)! }));
  return days.map((day, index) => ({
    tick: tickText(day),
    title: dayText(day),
    before: tickText(earlier[index]!),
  }));
}

/** Returns the 24 hours of a UTC day. */
export function hourPoints(day: string): Point[] {
  const before = tickText(daysBefore({ from: day, to: day }).from);
  return Array.from({ length: 24 }, (_, hour) => {
    const tick = `${String(hour).padStart(2, '0')}:00`;
    return { tick, title: `${dayText(day)}, ${tick} UTC`, before: `${before}, ${tick}` };
  });
}

/** Formats a UTC day: `Nov 22`. */
function tickText(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString(undefined, {
    month: 'short',
    day: 'numeric',
    timeZone: 'UTC',
  });
}
