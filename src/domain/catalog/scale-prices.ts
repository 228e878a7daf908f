// Prices times a factor, rounded up to a whole picodollar.
import type { Picos, PicosPerToken } from '../../lib/money.ts';
import type { PriceSet, TokenPrices } from './model.ts';

export const millionth = 1_000_000;
/** A factor of 1, in millionths of millionths. */
export const wholeFactor = BigInt(millionth) * BigInt(millionth);

/** `factor`: at most six decimals. */
export function scalePriceSet(set: PriceSet, factor: number): PriceSet {
  return scaleSet(set, BigInt(Math.round(factor * millionth)) * BigInt(millionth));
}

/** `factor` is in millionths of millionths. */
export function scaleSet({ base, tiers }: PriceSet, factor: bigint): PriceSet {
  return {
    base: scalePrices(base, factor),
    tiers: tiers.map((tier) => ({ ...tier, prices: scalePrices(tier.prices, factor) })),
  };
}

/** `factor` is in millionths of millionths. */
export function scaleUp(picos: Picos, factor: bigint): Picos {
  return (picos * factor + wholeFactor - 1n) / wholeFactor;
}

function scalePrices(prices: TokenPrices, factor: bigint): TokenPrices {
  return {
    input: scalePrice(prices.input, factor),
    output: scalePrice(prices.output, factor),
    cacheRead: scalePrice(prices.cacheRead, factor),
    cacheWrite: scalePrice(prices.cacheWrite, factor),
    cacheWrite1h: scalePrice(prices.cacheWrite1h, factor),
    ...(prices.audio !== undefined && { audio: scalePrice(prices.audio, factor) }),
  };
}

function scalePrice(price: PicosPerToken, factor: bigint): PicosPerToken {
  const scaled = Number(scaleUp(BigInt(price), factor));
  if (!Number.isSafeInteger(scaled))
    throw new RangeError(
      `the price of ${price} picodollars a token is out of range with its markup`,
    );
  return scaled as PicosPerToken;
}
