// Parses option values strictly: a typing error in an amount must be refused, not guessed at.
import { InvalidArgumentError } from 'commander';
import { type AdminScope, adminScopes } from '../terms/admin-scope.ts';
import { type KeyScope, keyScopes } from '../terms/key-scope.ts';
import { isAddressRange } from '../lib/addresses.ts';
import { parseUtcDay, parseZonedTime } from '../lib/iso-time.ts';
import { microsFromUsd, type Micros } from '../lib/money.ts';
import { systemClock } from '../lib/clock.ts';

/**
 * The parsed value of "none", which clears a limit. It is a symbol because commander takes null for
 * a missing value and replaces it with ''.
 */
export const none = Symbol('none');
export type OrNone<Value> = Value | typeof none;

/** Returns null for `none`. What was not given stays undefined. */
export function orNull<Value>(value: OrNone<Value>): Value | null;
export function orNull<Value>(value: OrNone<Value> | undefined): Value | null | undefined;
export function orNull<Value>(value: OrNone<Value> | undefined): Value | null | undefined {
  return value === none ? null : value;
}

/** Returns a parser that also takes "none". */
function orNone<Value>(parse: (text: string) => Value): (text: string) => OrNone<Value> {
  return (text) => (text === 'none' ? none : parse(text));
}

export function parseName(text: string): string {
  const name = text.trim();
  if (name === '' || name.length > 200)
    throw new InvalidArgumentError('It must have 1 to 200 characters.');
  return name;
}

/** Parses a positive amount in dollars. */
export function parseUsd(text: string): Micros {
  const amount = readUsd(text);
  if (amount <= 0) throw new InvalidArgumentError('It must be more than 0.');
  return amount;
}

/** Parses an amount of 0 or more, or "none". */
export const parseUsdCap = orNone((text) => {
  const amount = readUsd(text);
  if (amount < 0) throw new InvalidArgumentError('It must be 0 or more, or "none".');
  return amount;
});

/** Returns a parser of whole numbers in this form. `what`: what one must be. */
function numberLike(form: RegExp, what: string, most = Infinity) {
  return (text: string): number => {
    if (!form.test(text) || Number(text) > most)
      throw new InvalidArgumentError(`It must be ${what}.`);
    return Number(text);
  };
}

export const parseVersion = numberLike(
  /^\d{1,9}$/,
  'a number that "tollgate settings versions" shows',
);
export const parseOverlap = numberLike(/^\d{1,3}$/, 'a whole number of hours from 0 to 720', 720);
export const parseCount = orNone(
  numberLike(/^\d{1,10}$/, 'a whole number of at most ten digits, or "none"'),
);
export const parseDays = orNone(
  numberLike(/^[1-9]\d{0,9}$/, 'a whole number of days from 1 on, or "none"'),
);

/** Parses a list of names. They are resolved to models later. */
export const parseModelList = orNone((text): readonly string[] => {
  const names = partsOf(text);
  if (names.some((name) => name === ''))
    throw new InvalidArgumentError('It must be model ids separated by commas, or "none".');
  return names;
});

function partsOf(list: string): string[] {
  return list.split(',').map((part) => part.trim());
}

/** Parses scopes of an admin key, or "all". */
export function parseScopes(text: string): readonly AdminScope[] {
  return text === 'all' ? adminScopes : scopesIn(text, adminScopes);
}

/** Parses scopes of an API key; "all" clears the list. */
export function parseKeyScopes(text: string): OrNone<readonly KeyScope[]> {
  return text === 'all' ? none : scopesIn(text, keyScopes);
}

function scopesIn<Scope extends string>(text: string, scopes: readonly Scope[]): readonly Scope[] {
  const names = partsOf(text);
  const wrong = names.find((name) => !scopes.some((scope) => scope === name));
  if (wrong !== undefined)
    throw new InvalidArgumentError(
      `"${wrong}" is not a scope. Give "all", or some of these, separated by commas: ${scopes.join(', ')}.`,
    );
  return scopes.filter((scope) => names.includes(scope));
}

const rangesMax = 100;

export const parseAddressRanges = orNone((text): readonly string[] => {
  const ranges = partsOf(text);
  const wrong = ranges.find((range) => !isAddressRange(range));
  if (wrong !== undefined) {
    throw new InvalidArgumentError(
      `"${wrong}" is not an address. Separate addresses and ranges by commas, such as 203.0.113.7,10.0.0.0/8,2001:db8::/32, or give "none".`,
    );
  }
  if (ranges.length > rangesMax)
    throw new InvalidArgumentError(
      `It must be at most ${rangesMax} addresses; combine them into ranges.`,
    );
  return ranges;
});

/**
 * Parses a future time: the start of a UTC day (`2030-01-31`) or a time with its zone
 * (`2030-01-31T18:00:00Z`).
 */
export const parseExpiry = orNone((text) => {
  const timeMs = parseUtcDay(text) ?? parseZonedTime(text);
  if (timeMs === null) {
    throw new InvalidArgumentError(
      'It must be a UTC day, such as 2030-01-31, a time with its zone, such as 2030-01-31T18:00:00Z, or "none".',
    );
  }
  if (timeMs <= systemClock.nowMs())
    throw new InvalidArgumentError(
      'It must be in the future; "tollgate keys revoke" ends a key at once.',
    );
  return timeMs;
});

/** Parses a UTC day such as `2026-11-21`. Returns the time it starts. */
export function parseDay(text: string): number {
  const timeMs = parseUtcDay(text);
  if (timeMs === null) throw new InvalidArgumentError('It must be a day, such as 2026-11-21.');
  return timeMs;
}

/** Parses a factor with at most six decimals. Returns millionths. */
export function parseFactor(text: string): number {
  const millionths = readMillionths(text);
  if (millionths === null || millionths < 0 || millionths > 1_000 * 1_000_000)
    throw new InvalidArgumentError('It must be a number from 0 to 1000 with at most six decimals.');
  return millionths;
}

export const parseFactorOrNone = orNone(parseFactor);

function readUsd(text: string): Micros {
  const amount = readMillionths(text);
  if (amount === null)
    throw new InvalidArgumentError(
      'It must be an amount in US dollars such as 12.50, with at most nine digits before and six after the point.',
    );
  return amount;
}

function readMillionths(text: string): Micros | null {
  try {
    return microsFromUsd(text);
  } catch {
    return null;
  }
}

/** Request limits; keys and accounts have the same. */
export type RequestLimitOptions = {
  readonly rpm?: OrNone<number>;
  readonly tpm?: OrNone<number>;
  readonly concurrency?: OrNone<number>;
  readonly allow?: OrNone<readonly string[]>;
};

/** Limits that were not given are undefined; null clears a limit. */
export function requestLimitsOf({ rpm, tpm, concurrency, allow }: RequestLimitOptions) {
  return {
    requestsPerMinute: orNull(rpm),
    tokensPerMinute: orNull(tpm),
    concurrentRequests: orNull(concurrency),
    allowedAddresses: orNull(allow),
  };
}
