// The days of the home's chart. Pure functions.
import type { Output } from '../../../api/client.ts';
import { daysBefore, type DayRange } from '../../../parts/utc-days.ts';

type Row = Pick<
  Output<'GET /operator/report'>['rows'][number],
  'id' | 'revenue_micros' | 'cost_micros' | 'margin_micros'
>;

/** In microdollars. `before`: the revenue of the day as many days earlier. */
export type DayRow = Readonly<Record<'revenue' | 'cost' | 'margin' | 'before', number>> & {
  readonly day: string;
};

const dayMs = 86_400_000;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Returns a row for each day, also for those without charges, which reports leave out. */
export function dayRows(range: DayRange, now: readonly Row[], before: readonly Row[]): DayRow[] {
  const [nowOf, beforeOf] = [now, before].map((rows) => new Map(rows.map((row) => [row.id, row])));
  const earlierMs = Date.parse(range.from) - Date.parse(daysBefore(range).from);
  const count = (Date.parse(range.to) - Date.parse(range.from)) / dayMs + 1;
  return Array.from({ length: count }, (_, index) => {
    const ms = Date.parse(range.from) + index * dayMs;
    const row = nowOf!.get(dayOf(ms));
    return {
      day: dayOf(ms),
      revenue: row?.revenue_micros ?? 0,
      cost: row?.cost_micros ?? 0,
      margin: row?.margin_micros ?? 0,
      before: beforeOf!.get(dayOf(ms - earlierMs))?.revenue_micros ?? 0,
    };
  });
}
