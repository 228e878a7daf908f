// Hours of the week in UTC, in which a model has other prices: `Mon-Fri 01:00-04:00`. The first
// minute is inside, the last is not. Hours that end before they begin end on the next day.
import { dayMs } from '../../lib/utc-time.ts';

const dayNames = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const weekMs = 7 * dayMs;
/** 1970-01-01 was a Thursday. */
const mondayOffsetMs = 3 * dayMs;

export type WeeklyHours = {
  /** As written. */
  readonly text: string;
  /** From the beginning of the week. */
  readonly startsMs: readonly number[];
  readonly lengthMs: number;
};

/** Reads what the schema of `hours.utc` accepts. */
export function readWeeklyHours(text: string): WeeklyHours {
  const [days = '', hours = ''] = text.split(' ');
  const [first = '', last = first] = days.split('-');
  const [from, to] = hours.split('-').map(readTimeMs) as [number, number];
  const start = dayNames.indexOf(first);
  const count = ((dayNames.indexOf(last) - start + 7) % 7) + 1;
  const startsMs = Array.from(
    { length: count },
    (_, index) => ((start + index) % 7) * dayMs + from,
  );
  return { text, startsMs, lengthMs: to > from ? to - from : to - from + dayMs };
}

function readTimeMs(time: string): number {
  const [hours, minutes] = time.split(':').map(Number) as [number, number];
  return (hours * 60 + minutes) * 60_000;
}

/** Returns how much of a span, whose ends both belong to it, is in these hours. */
export function shareOf(
  { startsMs, lengthMs }: WeeklyHours,
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
): 'all' | 'some' | 'none' {
  const sinceStarts = startsMs.map(
    (startMs) => (fromMs + mondayOffsetMs - startMs + weekMs) % weekMs,
  );
  const sinceMs = Math.min(...sinceStarts);
  const nextMs = weekMs - Math.max(...sinceStarts);
  if (sinceMs + untilMs - fromMs < lengthMs) return 'all';
  return sinceMs < lengthMs || nextMs <= untilMs - fromMs ? 'some' : 'none';
}
