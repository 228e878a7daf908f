// Plans where to search for charges that pass a filter: time spans with matches, each small enough
// to scan quickly.
import { dayMs } from '../../../lib/utc-time.ts';

/** Unix milliseconds; `toMs` is exclusive, null is open. */
export type Span = { readonly fromMs: number | null; readonly toMs: number | null };

/** A UTC day of a ledger: its charges, and how many pass the filter. */
export type DayCount = {
  readonly day: string;
  readonly requests: number;
  readonly matching: number;
};

/**
 * Rows per scan. SQLite runs on the calling thread, so a longer scan would block other requests.
 */
const rowsMax = 20_000;

/**
 * Returns spans, newest first like `days`. Consecutive days form one span while they are small; a
 * large day is split into equal parts. Spans without matches are dropped.
 */
export function planSpans(
  days: readonly DayCount[],
  { fromMs = -Infinity, toMs = Infinity }: { readonly fromMs?: number; readonly toMs?: number },
): readonly Span[] {
  return groupDays(days)
    .filter((group) => group.some(({ matching }) => matching > 0))
    .flatMap(partsOf)
    .map((span) => ({ fromMs: Math.max(span.fromMs, fromMs), toMs: Math.min(span.toMs, toMs) }))
    .filter((span) => span.fromMs < span.toMs);
}

const widths = [2, 14, 90];

/**
 * Returns spans that cover all the time up to `newestMs`, newest first and each longer than the one
 * before, so that a page of a busy ledger is found in the first.
 */
export function widenSpans(
  newestMs: number,
  { fromMs = -Infinity, toMs }: { readonly fromMs?: number; readonly toMs?: number },
): readonly Span[] {
  const lastMs = Math.min(newestMs, toMs ?? Infinity);
  const starts = widths.map((days) => lastMs - days * dayMs).filter((startMs) => startMs > fromMs);
  const ends = [toMs ?? newestMs + 1, ...starts];
  return [...starts, fromMs === -Infinity ? null : fromMs]
    .map((startMs, index) => ({ fromMs: startMs, toMs: ends[index]! }))
    .filter(({ fromMs: start, toMs: end }) => start === null || end === null || start < end);
}

function groupDays(days: readonly DayCount[]): readonly (readonly DayCount[])[] {
  const groups: DayCount[][] = [];
  let requests = Infinity;
  for (const day of days) {
    requests += day.requests;
    if (requests <= rowsMax) groups.at(-1)!.push(day);
    else {
      groups.push([day]);
      requests = day.requests;
    }
  }
  return groups;
}

/** Days without charges may lie between the first and the last. */
function partsOf(group: readonly DayCount[]) {
  const fromMs = Date.parse(group.at(-1)!.day);
  const toMs = Date.parse(group[0]!.day) + dayMs;
  const parts = group.length > 1 ? 1 : Math.ceil(group[0]!.requests / rowsMax);
  const lengthMs = Math.ceil((toMs - fromMs) / parts);
  return Array.from({ length: parts }, (_, index) => ({
    fromMs: Math.max(fromMs, toMs - (index + 1) * lengthMs),
    toMs: toMs - index * lengthMs,
  }));
}
