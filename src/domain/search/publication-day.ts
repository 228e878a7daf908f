// Parses a page's publication date in the formats of search providers: ISO 8601, mail dates, `Jan 5,
// 2026`, `5 January 2026`, `2 days ago`. `Date.parse` alone accepts almost any text that ends in a
// number, so the form is checked first.
import { dayMs, dayOf } from '../../lib/utc-time.ts';

const month = '(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\\.?';
const words = `(?:[a-z]{3,9}, +)?(?:(\\d{1,2}) +${month}|${month} +(\\d{1,2})),? +\\d{4}`;
const time = '(?:[ T]\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,9})?)?)?';
const dateForm = new RegExp(
  `^(?:\\d{4}-\\d{2}-(\\d{2})|${words})${time}( ?(?:Z|UTC|GMT|[+-]\\d{2}:?\\d{2}))?$`,
  'i',
);
const ageForm = /^(\d{1,4}) (minute|hour|day|week|month|year)s? ago$/i;

/** Months and years are about as long as this. */
const unitMs: Readonly<Record<string, number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: dayMs,
  week: 7 * dayMs,
  month: 30 * dayMs,
  year: 365 * dayMs,
};

/** Returns a UTC date such as `2026-01-05`, or null for an unknown format. A time without a zone is UTC. */
export function readPublicationDay(text: string, nowMs: number): string | null {
  const trimmed = text.trim();
  const ms = trimmed.length > 64 ? NaN : (readDate(trimmed) ?? readAge(trimmed, nowMs));
  if (Number.isNaN(ms)) return null;
  const day = dayOf(ms);
  return /^\d{4}-/.test(day) ? day : null;
}

function readDate(text: string): number | null {
  const found = dateForm.exec(text);
  if (!found) return null;
  const [, isoDay, dayBefore, dayAfter, zone = ''] = found;
  const local = text.slice(0, text.length - zone.length).replace(/(\d)T/i, '$1 ');
  const localMs = Date.parse(`${local} UTC`);
  // It turns 30 February into 2 March.
  const isReal = new Date(localMs).getUTCDate() === Number(isoDay ?? dayBefore ?? dayAfter);
  if (!isReal) return NaN;
  return zone === '' ? localMs : Date.parse(text);
}

function readAge(text: string, nowMs: number): number {
  const [, count, unit] = ageForm.exec(text) ?? [];
  return count === undefined ? NaN : nowMs - Number(count) * unitMs[unit!.toLowerCase()]!;
}
