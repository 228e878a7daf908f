// Where charges that pass a filter are looked for: spans of time that have any, each with no more charges than are quickly read through.

/** Unix milliseconds, without the end; null: open. */
export type Span = { readonly fromMs: number | null; readonly toMs: number | null };

/** A UTC day of a ledger: its charges, and those of them that pass the filter. */
export type DayCount = { readonly day: string; readonly requests: number; readonly matching: number };

/** What is read through at once. SQLite answers without leaving its thread: more would hold up everybody else. */
const rowsMax = 20_000;
const dayMs = 86_400_000;

/**
 * Newest first, like `days`. Days in a row are one span while they are small enough together; a larger day is cut into equal parts. What
 * passes on none of its days is left out.
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

/** Days that nothing was charged on may lie between the first and the last. */
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
