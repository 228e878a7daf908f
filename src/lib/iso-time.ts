// Reads and writes ISO 8601 days and times. `Date.parse` alone accepts 30 February as 2 March.

/** Returns the start of a UTC day such as `2027-01-31`; null for an invalid day. */
export function parseUtcDay(text: string): number | null {
  const timeMs = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(timeMs) && new Date(timeMs).toISOString().startsWith(text) ? timeMs : null;
}

/** Parses a time with its zone, `2027-01-31T18:00:00Z`; null for anything else. */
export function parseZonedTime(text: string): number | null {
  const isTime =
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/.test(text);
  const timeMs = isTime && parseUtcDay(text.slice(0, 10)) !== null ? Date.parse(text) : Number.NaN;
  return Number.isNaN(timeMs) ? null : timeMs;
}

export function isoTimeOf(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : new Date(ms).toISOString();
}
