// Latencies are kept by day and by month, and by each way to group them. So a year is the sum of
// some months and days. Those of all requests are kept by hour, too. Pure.
import type { SumRow } from './activity-rows.ts';
import { dayMs, dayOf } from '../../lib/utc-time.ts';

type LatencySumRow = SumRow<'latency_sums'>;

type Measured = Pick<
  LatencySumRow,
  'account_id' | 'mode' | 'kind' | 'latency_bucket' | 'requests'
> & { readonly day: string };

/** Measured requests of a UTC hour, `2026-11-21T12`, in one bucket. */
export type MeasuredHour = Measured & {
  readonly hour: string;
  readonly key_id: string;
  readonly model_id: string;
  readonly provider: string;
};

/** Measured requests of a UTC day, in one bucket, that have a tag. */
export type MeasuredTag = Measured & { readonly tag: string };

/** Returns the rows that measured requests count in. */
export function latencySumsOf({
  hour,
  key_id,
  model_id,
  provider,
  ...measured
}: MeasuredHour): readonly LatencySumRow[] {
  const groups = { none: '', model: model_id, key: key_id, provider } as const;
  return [
    ...sumsIn(measured, 'none', '', [hour]),
    ...(Object.keys(groups) as (keyof typeof groups)[]).flatMap((by) =>
      sumsIn(measured, by, groups[by]),
    ),
  ];
}

export function latencySumsOfTag({ tag, ...measured }: MeasuredTag): readonly LatencySumRow[] {
  return sumsIn(measured, 'tag', tag);
}

function sumsIn(
  { day, ...measured }: Measured,
  grouped_by: LatencySumRow['grouped_by'],
  group_id: string,
  periods: readonly string[] = [day, day.slice(0, 7)],
): readonly LatencySumRow[] {
  return periods.map((period) => ({ ...measured, grouped_by, period, group_id }));
}

/** Returns whole months and the remaining days between two days, both included. */
export function periodsOf(fromDay: string, toDay: string): readonly string[] {
  const periods: string[] = [];
  let day = fromDay;
  while (day <= toDay) {
    const month = day.slice(0, 7);
    const isWhole = day.endsWith('-01') && lastDayOf(month) <= toDay;
    periods.push(isWhole ? month : day);
    day = dayAfter(isWhole ? lastDayOf(month) : day);
  }
  return periods;
}

function lastDayOf(month: string): string {
  const [year, number] = month.split('-').map(Number) as [number, number];
  return dayOf(Date.UTC(year, number, 0));
}

function dayAfter(day: string): string {
  return dayOf(Date.parse(day) + dayMs);
}
