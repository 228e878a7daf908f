// Parses a page's publication date in the formats of search providers. `Date.parse` is not used
// because it accepts almost any text that ends in a number.
import { dayMs, dayOf } from '../../lib/utc-time.ts';

/**
 * Returns a UTC date such as `2026-01-05`, or null for an unknown format or an invalid date.
 *
 * Formats: ISO 8601 (UTC without a zone), RFC 5322 mail dates, `Jan 5, 2026`, `5 January 2026`, `2
 * days ago`, `yesterday`.
 */
export function readPublicationDay(text: string, nowMs: number): string | null {
  const trimmed = text.trim();
  if (trimmed.length > 64) return null;
  for (const read of forms) {
    const ms = read(trimmed, nowMs);
    if (ms !== null) return dayOf(ms);
  }
  return null;
}

/** Each returns a time in milliseconds, or null for another format. */
const forms: readonly ((text: string, nowMs: number) => number | null)[] = [
  readIso,
  readDayFirst,
  readMonthFirst,
  readAge,
];

const time = /(\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?/.source;
const isoForm = new RegExp(
  `^(\\d{4})-(\\d{2})-(\\d{2})(?:[T ]${time} ?(Z|UTC|[+-]\\d{2}:?\\d{2})?)?$`,
  'i',
);

function readIso(text: string): number | null {
  const [, year, month, day, ...clock] = isoForm.exec(text) ?? [];
  return year === undefined ? null : momentOf({ year, month: Number(month) - 1, day }, clock);
}

const weekday = '(?:[a-z]{3,9},? +)?';
const dayFirstForm = new RegExp(
  `^${weekday}(\\d{1,2})(?:st|nd|rd|th)? +([a-z]{3,9})\\.?,? +(\\d{4})(?:,? +${time} *(Z|UT|UTC|GMT|[+-]\\d{4})?)?$`,
  'i',
);

function readDayFirst(text: string): number | null {
  const [, day, name, year, ...clock] = dayFirstForm.exec(text) ?? [];
  return year === undefined ? null : momentOf({ year, month: monthOf(name!), day }, clock);
}

const monthFirstForm = new RegExp(
  `^${weekday}([a-z]{3,9})\\.? +(\\d{1,2})(?:st|nd|rd|th)?,? +(\\d{4})$`,
  'i',
);

function readMonthFirst(text: string): number | null {
  const [, name, day, year] = monthFirstForm.exec(text) ?? [];
  return year === undefined ? null : momentOf({ year, month: monthOf(name!), day }, []);
}

const months =
  'january february march april may june july august september october november december'.split(
    ' ',
  );

/** Returns −1 for an unknown name. */
function monthOf(name: string): number {
  const word = name.toLowerCase();
  return months.findIndex(
    (month) =>
      word === month || word === month.slice(0, 3) || (word === 'sept' && month === 'september'),
  );
}

type Day = { readonly year: string; readonly month: number; readonly day: string | undefined };

/** Returns null for an invalid date or time. */
function momentOf(
  { year, month, day }: Day,
  [hours = '0', minutes = '0', seconds = '0', zone]: (string | undefined)[],
): number | null {
  const date = new Date(Date.UTC(Number(year), month, Number(day)));
  // Date.UTC reads years below 100 as 19xx.
  const isDay =
    date.getUTCMonth() === month &&
    date.getUTCDate() === Number(day) &&
    date.getUTCFullYear() === Number(year);
  if (!isDay || Number(hours) > 24 || Number(minutes) > 59 || Number(seconds) > 60) return null;
  const secondsOfDay = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
  return date.getTime() + secondsOfDay * 1_000 - zoneOffsetMs(zone);
}

function zoneOffsetMs(zone: string | undefined): number {
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(zone ?? '') ?? [];
  if (sign === undefined) return 0;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

const unitMs: Readonly<Record<string, number>> = {
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: dayMs,
  week: 7 * dayMs,
};
const unitMonths: Readonly<Record<string, number>> = { month: 1, year: 12 };
const unitNames: Readonly<Record<string, string>> = {
  sec: 'second',
  min: 'minute',
  hr: 'hour',
  mo: 'month',
  yr: 'year',
};

function readAge(text: string, nowMs: number): number | null {
  const word = text.toLowerCase();
  if (word === 'today' || word === 'just now' || word === 'now') return nowMs;
  if (word === 'yesterday') return nowMs - dayMs;
  const [, amount, name] = /^(\d{1,4}|an?|one) ?([a-z]+?)s? ago$/.exec(word) ?? [];
  if (amount === undefined || name === undefined) return null;
  const count = /^\d/.test(amount) ? Number(amount) : 1;
  const unit = unitNames[name] ?? name;
  if (Object.hasOwn(unitMs, unit)) return nowMs - count * unitMs[unit]!;
  return Object.hasOwn(unitMonths, unit) ? monthsBefore(nowMs, count * unitMonths[unit]!) : null;
}

/** Returns the same day of an earlier month, or that month's last day. */
function monthsBefore(nowMs: number, count: number): number | null {
  const now = new Date(nowMs);
  const month = now.getUTCMonth() - count;
  const lastDay = new Date(Date.UTC(now.getUTCFullYear(), month + 1, 0));
  if (lastDay.getUTCFullYear() < 1) return null;
  return lastDay.setUTCDate(Math.min(now.getUTCDate(), lastDay.getUTCDate()));
}
