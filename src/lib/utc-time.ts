// UTC days and months. Their names are dates that sort chronologically: `2026-11-21`, `2026-11`.

export const hourMs = 3_600_000;
export const dayMs = 86_400_000;

export function dayOf(timeMs: number): string {
  return isoOf(timeMs).slice(0, 10);
}

/** `2026-11-21T12` */
export function hourOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 13);
}

export function monthOf(timeMs: number): string {
  return isoOf(timeMs).slice(0, 7);
}

let last = { timeMs: Number.NaN, iso: '' };

/**
 * Cached, because all commands of a batch have the same time and formatting it is a tenth of a
 * command's cost.
 */
function isoOf(timeMs: number): string {
  if (timeMs !== last.timeMs) last = { timeMs, iso: new Date(timeMs).toISOString() };
  return last.iso;
}

/** The first millisecond of the UTC day. */
export function dayStartMs(timeMs: number): number {
  return Date.parse(dayOf(timeMs));
}

/** The first millisecond of the UTC month. */
export function monthStartMs(timeMs: number): number {
  return Date.parse(`${monthOf(timeMs)}-01`);
}

/** The first millisecond of the next UTC day. */
export function nextDayMs(timeMs: number): number {
  const time = new Date(timeMs);
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate() + 1);
}

/** The first millisecond of the next UTC month. */
export function nextMonthMs(timeMs: number): number {
  const time = new Date(timeMs);
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1);
}
