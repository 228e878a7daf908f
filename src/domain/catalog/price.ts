// The exact cost of a request: picodollars are summed as big integers and rounded up once, to a
// microdollar. Holds and charges use the same prices, so a hold is never below its charge.
import { costOf, noPrices, type PriceTerms } from '../../terms/price-terms.ts';
import { totalInputTokens, type Usage } from '../../canonical/usage.ts';
import { roundUpToMicro, type Micros, type Picos, type PicosPerToken } from '../../lib/money.ts';
import type { Model, PriceVersion, TokenPrices } from './model.ts';

/**
 * Converts a provider's price to an account's: the configured `markup`, times the account's
 * multiplier in millionths.
 */
export type PriceFactor = {
  /** At most six decimals. */
  readonly markup: number;
  /** `listPricePpm` means the list price. */
  readonly multiplierPpm: number;
};

export const listPricePpm = 1_000_000;

/** A price version for an account, and for the operator. */
export type AppliedPrice = {
  readonly list: PriceVersion;
  readonly upstream: PriceVersion;
  /** The price of a provider-run web search; absent when the request has none. */
  readonly search?: { readonly listPicos: Picos; readonly upstreamPicos: Picos };
};

type PricedUsage = {
  readonly costMicros: Micros;
  /**
   * By the provider's price; if the operator set the price, by that one, because no other is known.
   */
  readonly upstreamCostMicros: Micros;
  /** The price terms of both costs. */
  readonly terms: PriceTerms;
  /**
   * The version, with the tier's threshold if one applied and the picodollars per search if there
   * were any: `2026-12-01`, `0>272000`, `0+10000000000/search`.
   */
  readonly priceVersion: string;
};

const millionth = 1_000_000;
const wholeFactor = BigInt(millionth) * BigInt(millionth);
const freeSearch = { listPicos: 0n, upstreamPicos: 0n } as const;
const picosPerMicro = 1_000_000n;
/** More tokens than any request has; "unlimited" for a free model. */
const outputTokensMax = 100_000_000;

/**
 * Returns a model's price for an account at a time; null when it has none then and must not run.
 */
export function priceFor(
  model: Model,
  { nowMs, ...factor }: PriceFactor & { readonly nowMs: number },
): AppliedPrice | null {
  const upstream = priceAt(model, nowMs);
  return upstream && { list: listPrices(upstream, factor), upstream };
}

/** Returns the newest price in effect; null when the price is unknown or in the future. */
export function priceAt(model: Model, nowMs: number): PriceVersion | null {
  return model.prices.find((version) => version.effectiveFromMs <= nowMs) ?? null;
}

/**
 * Returns the price that an account pays: with the account's multiplier, and with the markup unless
 * the operator set the price. Both apply in one step, and each price is rounded up to a whole
 * picodollar a token.
 *
 * @example listPrices(version, { markup: 1.25, multiplierPpm: 900_000 }) // $2 a million becomes
 * $2.25
 */
export function listPrices(
  version: PriceVersion,
  { markup, multiplierPpm }: PriceFactor,
): PriceVersion {
  const factor = factorOf({ markup, multiplierPpm }, version);
  if (factor === wholeFactor) return version;
  return {
    ...version,
    base: scalePrices(version.base, factor),
    tiers: version.tiers.map((tier) => ({ ...tier, prices: scalePrices(tier.prices, factor) })),
  };
}

/** Applies markup and multiplier like `listPrices`, rounded up to a whole picodollar. */
export function scaleByFactor(
  picos: Picos,
  factor: PriceFactor,
  { isListPrice }: { readonly isListPrice: boolean },
): Picos {
  return scaleUp(picos, factorOf(factor, { isListPrice }));
}

/**
 * Returns the cost of a finished request: its tokens, and the web searches that the provider ran.
 * The whole input, cached or not, determines the tier, which prices the whole request.
 */
export function priceUsage(price: AppliedPrice, usage: Usage, searches = 0): PricedUsage {
  const { list, search = freeSearch } = price;
  const tier = tierIndexOf(list, totalInputTokens(usage));
  const listTerms = { ...noPrices, ...pricesOf(list, tier), search: search.listPicos };
  const terms = { list: listTerms, upstream: upstreamTermsOf(price, tier) };
  return {
    costMicros: costOf(terms.list, { usage, searches, images: 0 }),
    upstreamCostMicros: costOf(terms.upstream, { usage, searches, images: 0 }),
    terms,
    priceVersion:
      list.version + tierPart(list, tier) + (searches > 0 ? `+${search.listPicos}/search` : ''),
  };
}

/** Returns the operator's part of `priceUsage`. */
export function upstreamCostOf(price: AppliedPrice, usage: Usage, searches = 0): Micros {
  const tier = tierIndexOf(price.list, totalInputTokens(usage));
  return costOf(upstreamTermsOf(price, tier), { usage, searches, images: 0 });
}

function upstreamTermsOf({ upstream, search = freeSearch }: AppliedPrice, tier: number) {
  return { ...noPrices, ...pricesOf(upstream, tier), search: search.upstreamPicos };
}

/**
 * Returns the highest possible cost of a request, for any division of its input into cached and
 * uncached and for any tier that its size can fall in. This is the amount of its hold. Each of the
 * `choices` (Chat's `n`) may use all the output and be billed the input again; `searches` is the
 * most that the provider may run.
 */
export function worstCaseMicros(
  price: AppliedPrice,
  request: InputSize & { readonly outputTokens: number },
): Micros {
  const outputTokens = BigInt(request.outputTokens) * BigInt(request.choices);
  const costs = worstInputs(price, request).map(
    (worst) => worst.inputPicos + outputTokens * worst.outputPrice,
  );
  return roundUpToMicro(costs.reduce(larger));
}

/**
 * The inverse of `worstCaseMicros`: returns the most output tokens per choice that fit an amount; 0
 * when none fits.
 */
export function affordableOutputTokens(
  price: AppliedPrice,
  request: InputSize & { readonly amountMicros: Micros },
): number {
  const budget = BigInt(request.amountMicros) * picosPerMicro;
  let affordable = BigInt(outputTokensMax);
  for (const { inputPicos, outputPrice } of worstInputs(price, request)) {
    const left = budget - inputPicos;
    if (left < 0n) return 0;
    const pricePerToken = outputPrice * BigInt(request.choices);
    if (pricePerToken > 0n && left / pricePerToken < affordable) affordable = left / pricePerToken;
  }
  return Number(affordable);
}

/** Everything but output that a request can be billed for. */
type InputSize = {
  readonly inputTokensUpper: number;
  readonly choices: number;
  readonly searches?: number;
  /** False when the input cannot be cached for an hour; true by default. */
  readonly cachesLong?: boolean;
};

/** `inputPicos` includes the searches, which are independent of the output too. */
type WorstInput = { readonly inputPicos: bigint; readonly outputPrice: bigint };

/**
 * Returns one result for each tier that the input may fall in: the estimate is an upper bound, and
 * any tier can be the most expensive.
 */
function worstInputs(
  { list, search = freeSearch }: AppliedPrice,
  { inputTokensUpper, choices, searches = 0, cachesLong = true }: InputSize,
): WorstInput[] {
  const inputTokens = inputTokensUpper * choices;
  const highestTier = tierIndexOf(list, inputTokens);
  const reachable = [list.base, ...list.tiers.slice(0, highestTier + 1).map((tier) => tier.prices)];
  return reachable.map((prices) => ({
    inputPicos:
      BigInt(inputTokens) * BigInt(highestInputPrice(prices, cachesLong)) +
      BigInt(searches) * search.listPicos,
    outputPrice: BigInt(prices.output),
  }));
}

function highestInputPrice(
  { input, cacheRead, cacheWrite, cacheWrite1h }: TokenPrices,
  cachesLong: boolean,
): PicosPerToken {
  return Math.max(input, cacheRead, cacheWrite, cachesLong ? cacheWrite1h : 0) as PicosPerToken;
}

/** Returns −1 for the base price. Tiers are ordered by threshold. */
function tierIndexOf(version: PriceVersion, inputTokens: number): number {
  return version.tiers.findLastIndex((tier) => inputTokens > tier.aboveInputTokens);
}

function tierPart(version: PriceVersion, tier: number): string {
  return tier < 0 ? '' : `>${version.tiers[tier]!.aboveInputTokens}`;
}

function pricesOf(version: PriceVersion, tier: number): TokenPrices {
  return version.tiers[tier]?.prices ?? version.base;
}

function scalePrices(prices: TokenPrices, factor: bigint): TokenPrices {
  return {
    input: scalePrice(prices.input, factor),
    output: scalePrice(prices.output, factor),
    cacheRead: scalePrice(prices.cacheRead, factor),
    cacheWrite: scalePrice(prices.cacheWrite, factor),
    cacheWrite1h: scalePrice(prices.cacheWrite1h, factor),
  };
}

function factorOf(
  { markup, multiplierPpm }: PriceFactor,
  { isListPrice }: { readonly isListPrice: boolean },
): bigint {
  return BigInt(isListPrice ? millionth : Math.round(markup * millionth)) * BigInt(multiplierPpm);
}

/** `factor` is in millionths of millionths. */
function scaleUp(picos: Picos, factor: bigint): Picos {
  return (picos * factor + wholeFactor - 1n) / wholeFactor;
}

function scalePrice(price: PicosPerToken, factor: bigint): PicosPerToken {
  const scaled = Number(scaleUp(BigInt(price), factor));
  if (!Number.isSafeInteger(scaled))
    throw new RangeError(
      `the price of ${price} picodollars a token is out of range with its markup`,
    );
  return scaled as PicosPerToken;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
