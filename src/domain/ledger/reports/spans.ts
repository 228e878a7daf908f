// Plans where to search for charges that pass a filter: time spans with matches.
import { rowsPerStep, type Span } from '../../../db/search-steps.ts';
import { dayMs } from '../../../lib/utc-time.ts';

/** A UTC day of a ledger: its charges, and how many pass the filter. */
export type DayCount = {
  readonly day: string;
  readonly requests: number;
  readonly matching: number;
};

/**
 * Returns spans, newest first like `days`. Consecutive days form one span while one step reads them.
 * Spans without matches are dropped.
 */
export function planSpans(
  days: readonly DayCount[],
  { fromMs = -Infinity, toMs = Infinity }: { readonly fromMs?: number; readonly toMs?: number },
): readonly Span[] {
  return groupDays(days)
    .filter((group) => group.some(({ matching }) => matching > 0))
    .map(spanOf)
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
    if (requests <= rowsPerStep) groups.at(-1)!.push(day);
    else {
      groups.push([day]);
      requests = day.requests;
    }
  }
  return groups;
}

/** Days without charges may lie between the first and the last. */
function spanOf(group: readonly DayCount[]) {
  return { fromMs: Date.parse(group.at(-1)!.day), toMs: Date.parse(group[0]!.day) + dayMs };
}
