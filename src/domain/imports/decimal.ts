// Exact decimal numbers, for amounts of other gateways: they are never floating point here.
import { type Micros, micros } from '../../lib/money.ts';

/** `digits` × 10^−`scale`. */
export type Decimal = { readonly digits: bigint; readonly scale: number };

/**
 * Reads a number as databases and JSON write it: `12.5`, `1e-05`. Returns null for anything else,
 * such as NaN, and for more than 60 places.
 */
export function readDecimal(value: unknown): Decimal | null {
  const match = /^(-?\d{1,60})(?:\.(\d{1,60}))?(?:e([+-]?\d{1,3}))?$/i.exec(String(value));
  if (!match) return null;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const scale = fraction.length - Number(exponent);
  if (Math.abs(scale) > 60) return null;
  const digits = BigInt(whole + fraction);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

export function times(one: Decimal, other: Decimal): Decimal {
  return { digits: one.digits * other.digits, scale: one.scale + other.scale };
}

/** Divides, and rounds once, down, to millionths. `divisor` must not be zero. */
export function millionthsOf(value: Decimal, divisor: Decimal = unit): bigint {
  const above = value.digits * 10n ** BigInt(divisor.scale + 6);
  const below = divisor.digits * 10n ** BigInt(value.scale);
  const quotient = above / below;
  return above % below !== 0n && above < 0n !== below < 0n ? quotient - 1n : quotient;
}

const unit: Decimal = { digits: 1n, scale: 0 };

/**
 * Returns null unless it is a number; what is finer than a microdollar is dropped. `perDollar`: how
 * many of its units make a dollar.
 */
export function microsOf(value: unknown, perDollar: Decimal = unit): Micros | null {
  const amount = readDecimal(value);
  const whole = amount && millionthsOf(amount, perDollar);
  return whole !== null && whole >= Number.MIN_SAFE_INTEGER && whole <= Number.MAX_SAFE_INTEGER
    ? micros(Number(whole))
    : null;
}

/** Returns prices in USD per million tokens, rounded up to six decimals, without those that are null. */
export function pricesOf(
  usd: Readonly<Record<string, Decimal | null>>,
): Readonly<Record<string, number>> {
  const prices = Object.entries(usd).flatMap(([name, price]) => {
    const picos = price ? -millionthsOf({ ...price, digits: -price.digits }) : -1n;
    return picos < 0n || picos > picosMax ? [] : [[name, Number(picos) / 1_000_000] as const];
  });
  return Object.fromEntries(prices);
}

/** $1,000 for a million tokens, the highest price. */
const picosMax = 1_000_000_000n;
