// What people type into options, read strictly: a slip in an amount of money must be told, not guessed at.
import { InvalidArgumentError } from 'commander';
import { isAddressRange } from '../lib/addresses.ts';
import { microsFromUsd, type Micros } from '../lib/money.ts';
import { systemClock } from '../lib/clock.ts';

/**
 * What "none" is read as: the limit is cleared. A value of its own, since commander takes a null for a value that is missing, and puts ''
 * in its place.
 */
export const none = Symbol('none');
export type OrNone<Value> = Value | typeof none;

export function orNull<Value>(value: OrNone<Value>): Value | null {
  return value === none ? null : value;
}

const noneText = 'none';

export function parseName(text: string): string {
  const name = text.trim();
  if (name === '' || name.length > 200) throw new InvalidArgumentError('It must have 1 to 200 characters.');
  return name;
}

/** A positive amount in dollars. */
export function parseUsd(text: string): Micros {
  const amount = readUsd(text);
  if (amount <= 0) throw new InvalidArgumentError('It must be more than 0.');
  return amount;
}

/** An amount of at least 0. */
export function parseUsdCap(text: string): OrNone<Micros> {
  if (text === noneText) return none;
  const amount = readUsd(text);
  if (amount < 0) throw new InvalidArgumentError('It must be 0 or more, or "none".');
  return amount;
}

export function parseCount(text: string): OrNone<number> {
  if (text === noneText) return none;
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('It must be a whole number of at most ten digits, or "none".');
  return Number(text);
}

/** Names as typed; which models they are is looked up later. */
export function parseModelList(text: string): OrNone<readonly string[]> {
  if (text === noneText) return none;
  const names = text.split(',').map((name) => name.trim());
  if (names.some((name) => name === '')) throw new InvalidArgumentError('It must be model ids separated by commas, or "none".');
  return names;
}

const rangesMax = 100;

export function parseAddressRanges(text: string): OrNone<readonly string[]> {
  if (text === noneText) return none;
  const ranges = text.split(',').map((range) => range.trim());
  const wrong = ranges.find((range) => !isAddressRange(range));
  if (wrong !== undefined) {
    throw new InvalidArgumentError(
      `"${wrong}" is no address. Write addresses or ranges by comma, such as 203.0.113.7,10.0.0.0/8,2001:db8::/32, or "none".`,
    );
  }
  if (ranges.length > rangesMax)
    throw new InvalidArgumentError(`It must be at most ${rangesMax} addresses; join them to ranges.`);
  return ranges;
}

/** A moment to come: the begin of a UTC day, `2027-01-31`, or a time with its zone, `2027-01-31T18:00:00Z`. */
export function parseExpiry(text: string): OrNone<number> {
  if (text === noneText) return none;
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/.test(text);
  const timeMs = isTime && isDay(text.slice(0, 10)) ? Date.parse(text) : isDay(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(timeMs)) {
    throw new InvalidArgumentError(
      'It must be a UTC day, such as 2027-01-31, a time with its zone, such as 2027-01-31T18:00:00Z, or "none".',
    );
  }
  if (timeMs <= systemClock.nowMs())
    throw new InvalidArgumentError('It must be in the future; "tollgate keys revoke" ends a key at once.');
  return timeMs;
}

/** A UTC day, `2026-11-21`, as the time it begins. */
export function parseDay(text: string): number {
  if (!isDay(text)) throw new InvalidArgumentError('It must be a day, such as 2026-11-21.');
  return Date.parse(text);
}

/** Also whether there is such a day: 2026-02-30 would be read as one of March. */
function isDay(text: string): boolean {
  const timeMs = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(timeMs) && new Date(timeMs).toISOString().slice(0, 10) === text;
}

/** A factor with at most six decimals, in millionths. */
export function parseFactor(text: string): number {
  const millionths = readUsd(text);
  if (millionths < 0 || millionths > 1_000 * 1_000_000) throw new InvalidArgumentError('It must be from 0 to 1000.');
  return millionths;
}

export function parseFactorOrNone(text: string): OrNone<number> {
  return text === noneText ? none : parseFactor(text);
}

function readUsd(text: string): Micros {
  try {
    return microsFromUsd(text);
  } catch {
    throw new InvalidArgumentError('It must be an amount in US dollars with at most six decimals, such as 12.50.');
  }
}
