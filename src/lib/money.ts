// Money is whole microdollars (USD × 10⁻⁶) as safe integers; prices are whole picodollars (USD ×
// 10⁻¹²) a token. Nothing here rounds silently: the one rounding of a charge is `roundUpToMicro`.
import { withoutTrailing } from './without-trailing.ts';

declare const microsBrand: unique symbol;
declare const picosBrand: unique symbol;

/**
 * Whole microdollars; 1 000 000 is one dollar. May be negative only for a balance after a debit.
 */
export type Micros = number & { readonly [microsBrand]: true };

/** Whole picodollars a token. USD per million tokens × 10⁶: $2.50 a million is 2 500 000. */
export type PicosPerToken = number & { readonly [picosBrand]: true };

/**
 * Whole picodollars, exact at any size: the price of one tool call, or a sum that becomes a charge.
 */
export type Picos = bigint;

const microsPerDollar = 1_000_000;
export const microsPerCent = 10_000;
export const picosPerMicro = 1_000_000n;

export const zeroMicros = 0 as Micros;

/**
 * Marks a number as microdollars. Throws on a fraction or an unsafe integer, because that is a bug
 * of the caller.
 */
export function micros(value: number): Micros {
  if (!Number.isSafeInteger(value)) throw new RangeError(`not whole microdollars: ${value}`);
  return value as Micros;
}

/**
 * Converts dollars ("12.34", 5) to microdollars. Throws RangeError for anything finer than a
 * microdollar or not a number.
 */
export function microsFromUsd(usd: string | number): Micros {
  const match = /^(-?)(\d{1,9})(?:\.(\d{1,6})0*)?$/.exec(
    typeof usd === 'number' ? decimalText(usd) : usd.trim(),
  );
  if (!match) throw new RangeError(`not an amount in dollars with at most six decimals: ${usd}`);
  const [, sign, whole, fraction = ''] = match;
  const value = Number(whole) * microsPerDollar + Number(fraction.padEnd(6, '0'));
  return micros(sign === '-' && value !== 0 ? -value : value);
}

/**
 * Converts a configured price in USD per million tokens to picodollars a token. The finest step is
 * $0.000001 a million.
 */
export function picosFromUsdPerMillion(usd: number): PicosPerToken {
  const picos = Math.round(usd * 1_000_000);
  if (!Number.isSafeInteger(picos) || picos < 0)
    throw new RangeError(`not a price in USD per million tokens: ${usd}`);
  return picos as PicosPerToken;
}

/** Converts a configured price in USD per call to picodollars. The finest step is a microdollar. */
export function picosFromUsd(usd: number): Picos {
  const wholeMicros = micros(Math.round(usd * microsPerDollar));
  if (wholeMicros < 0) throw new RangeError(`not a price in USD: ${usd}`);
  return BigInt(wholeMicros) * picosPerMicro;
}

export function usdPerMillionFromPicos(price: PicosPerToken): number {
  return price / 1_000_000;
}

/** For display: a price in USD, as precise as a number can be. */
export function usdFromPicos(price: Picos): number {
  return Number(price) / 1_000_000_000_000;
}

/** The one rounding of a charge: exact picodollars to microdollars, upwards. */
export function roundUpToMicro(picodollars: bigint): Micros {
  return micros(Number((picodollars + picosPerMicro - 1n) / picosPerMicro));
}

/** Microdollars as a plain dollar amount: 1 234 500 → "1.2345". */
export function formatUsd(value: Micros): string {
  const text = String(Math.abs(value)).padStart(7, '0');
  const fraction = withoutTrailing(text.slice(-6), '0').padEnd(2, '0');
  return `${value < 0 ? '-' : ''}${text.slice(0, -6)}.${fraction}`;
}

/**
 * Converts microdollars to dollars: the number whose shortest decimal form is exact for any
 * realistic amount.
 */
export function usdFromMicros(value: Micros): number {
  return value / microsPerDollar;
}

/** Returns whole cents, rounded down as balances are shown: 12 345 678 → 1234; −1 → −1. */
export function floorToCents(value: Micros): number {
  return Math.floor(value / microsPerCent);
}

/**
 * `String` writes very small and very large numbers with an exponent, which `microsFromUsd` would
 * refuse.
 */
function decimalText(value: number): string {
  const text = String(value);
  return text.includes('e') ? withoutTrailing(value.toFixed(7), '0') : text;
}
