// Formats times in the reader's locale and time zone. Ledger days are in UTC.
const units = [
  { unit: 'year', ms: 365 * 86_400_000 },
  { unit: 'month', ms: 30 * 86_400_000 },
  { unit: 'day', ms: 86_400_000 },
  { unit: 'hour', ms: 3_600_000 },
  { unit: 'minute', ms: 60_000 },
] as const;

/** `5 minutes ago`, `in 3 hours`, `just now`: English, like the rest of the page. */
export function relativeText(atMs: number, nowMs: number): string {
  const distance = atMs - nowMs;
  const fitting = units.find(({ ms }) => Math.abs(distance) >= ms);
  if (!fitting) return 'just now';
  const count = distance / fitting.ms;
  return new Intl.RelativeTimeFormat('en').format(
    count < 0 ? Math.trunc(count) : Math.round(count),
    fitting.unit,
  );
}

/** Formats a time for a `datetime-local` field, in the reader's time zone: `2026-11-22T14:05`. */
export function localTimeText(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** `22 Nov 2026, 14:05:09` in the reader's time zone or in UTC. */
export function dateTimeText(
  at: Date,
  { utc = false, withYear = true }: { readonly utc?: boolean; readonly withYear?: boolean } = {},
): string {
  const timeZone = utc ? 'UTC' : undefined;
  const day = withYear
    ? ({ dateStyle: 'medium' } as const)
    : ({ day: 'numeric', month: 'short' } as const);
  const time = at.toLocaleTimeString(undefined, { timeStyle: 'medium', timeZone });
  return `${at.toLocaleDateString(undefined, { ...day, timeZone })}, ${time}`;
}

/** `22 Nov 2026`: the UTC day of `2026-11-22` or of a full ISO time. */
export function dayText(day: string): string {
  return new Date(day.length === 10 ? `${day}T00:00:00Z` : day).toLocaleDateString(undefined, {
    dateStyle: 'medium',
    timeZone: 'UTC',
  });
}

/** `22 Nov 2026 – 25 Nov 2026`, for a field of UTC days. Days that are not chosen are left out. */
export function daysText({ date }: { readonly date: unknown }): string {
  const days = [date].flat().filter((day) => typeof day === 'string');
  return days.map(dayText).join(' – ');
}
