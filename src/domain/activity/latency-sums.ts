// Latencies are kept by day and by month, and by each way to group them. So a year is the sum of
// some months and days. Pure.
import type { LatencySumRow } from './activity-rows.ts';

/** Measured requests of a UTC day in one bucket. */
export type MeasuredDay = Pick<
  LatencySumRow,
  'account_id' | 'mode' | 'kind' | 'latency_bucket' | 'requests'
> & {
  readonly day: string;
  readonly key_id: string;
  readonly model_id: string;
  readonly provider: string;
};

/** Returns the rows that measured requests count in, by name. */
export function latencySumsOf({
  day,
  key_id,
  model_id,
  provider,
  ...measured
}: MeasuredDay): readonly (readonly [name: string, row: LatencySumRow])[] {
  const groups = { none: '', model: model_id, key: key_id, provider } as const;
  const { account_id: account, mode, kind, latency_bucket: bucket } = measured;
  return (Object.keys(groups) as (keyof typeof groups)[]).flatMap((by) =>
    [day, day.slice(0, 7)].map((period) => {
      const group_id = groups[by];
      const name = `${account} ${mode} ${by} ${period} ${group_id} ${kind} ${bucket}`;
      return [name, { ...measured, grouped_by: by, period, group_id }] as const;
    }),
  );
}

const dayMs = 86_400_000;

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
  return textOf(Date.UTC(year, number, 0));
}

function dayAfter(day: string): string {
  return textOf(Date.parse(day) + dayMs);
}

function textOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
