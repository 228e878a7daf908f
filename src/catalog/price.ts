// What a request costs, exactly: whole picodollars are added up as big integers and rounded up once, to a microdollar.
// The most a request can cost and what it does cost come from the same prices, so a hold is never below its charge.
import { costOf, type PriceTerms } from '../canonical/price-terms.ts';
import { totalInputTokens, type Usage } from '../canonical/usage.ts';
import { roundUpToMicro, type Micros, type Picos, type PicosPerToken } from '../lib/money.ts';
import type { Model, PriceVersion, TokenPrices } from './model.ts';

/** What turns a provider's price into an account's: `markup` of the configuration, and the account's own multiplier in millionths. */
export type PriceFactor = {
  /** With at most six decimals. */
  readonly markup: number;
  /** 1 000 000 is the list price. */
  readonly multiplierPpm: number;
};

/** One price version as an account pays it and as the operator does. */
export type AppliedPrice = {
  readonly list: PriceVersion;
  readonly upstream: PriceVersion;
  /** Of one web search that the provider runs; left out: the request has none. */
  readonly search?: { readonly listPicos: Picos; readonly upstreamPicos: Picos };
};

export type PricedUsage = {
  readonly costMicros: Micros;
  /** By the provider's price; for a price that the operator stated, by that one: no other is known. */
  readonly upstreamCostMicros: Micros;
  /** What both were reckoned by. */
  readonly terms: PriceTerms;
  /**
   * The version, the threshold of the tier where one applied, and the picodollars of a search where there were some: `2026-12-01`,
   * `0>272000`, `0+10000000000/search`.
   */
  readonly priceVersion: string;
};

const millionth = 1_000_000;
const wholeFactor = BigInt(millionth) * BigInt(millionth);
const freeSearch = { listPicos: 0n, upstreamPicos: 0n } as const;
const picosPerMicro = 1_000_000n;
/** More tokens than any request has: what "unlimited" is for a free model. */
const outputTokensMax = 100_000_000;

/** The price of a model for one account at one moment; null when it has none then, and must not run. */
export function priceFor(model: Model, { nowMs, ...factor }: PriceFactor & { readonly nowMs: number }): AppliedPrice | null {
  const upstream = priceAt(model, nowMs);
  return upstream && { list: listPrices(upstream, factor), upstream };
}

/** The newest price that is in effect; null when the model's price is unknown or lies in the future. */
export function priceAt(model: Model, nowMs: number): PriceVersion | null {
  return model.prices.find((version) => version.effectiveFromMs <= nowMs) ?? null;
}

/**
 * The price an account pays: the markup, unless the operator stated the price, and the account's multiplier, in one step, each
 * price rounded up to a whole picodollar a token.
 * @example listPrices(version, { markup: 1.25, multiplierPpm: 900_000 }) // $2 a million becomes $2.25
 */
export function listPrices(version: PriceVersion, { markup, multiplierPpm }: PriceFactor): PriceVersion {
  const factor = factorOf({ markup, multiplierPpm }, version);
  if (factor === wholeFactor) return version;
  return {
    ...version,
    base: scalePrices(version.base, factor),
    tiers: version.tiers.map((tier) => ({ ...tier, prices: scalePrices(tier.prices, factor) })),
  };
}

/** An amount with markup and multiplier, as `listPrices` has them, rounded up to a whole picodollar. */
export function scaleByFactor(picos: Picos, factor: PriceFactor, { isListPrice }: { readonly isListPrice: boolean }): Picos {
  return scaleUp(picos, factorOf(factor, { isListPrice }));
}

/**
 * What a finished request cost: its tokens, and the web searches that the provider ran for it. The tier is chosen by the whole input,
 * cached or not, and prices all of it.
 */
export function priceUsage({ list, upstream, search = freeSearch }: AppliedPrice, usage: Usage, searches = 0): PricedUsage {
  const tier = tierIndexOf(list, totalInputTokens(usage));
  const terms = {
    list: { ...pricesOf(list, tier), search: search.listPicos, image: 0n },
    upstream: { ...pricesOf(upstream, tier), search: search.upstreamPicos, image: 0n },
  };
  return {
    costMicros: costOf(terms.list, { usage, searches, images: 0 }),
    upstreamCostMicros: costOf(terms.upstream, { usage, searches, images: 0 }),
    terms,
    priceVersion: list.version + tierPart(list, tier) + (searches > 0 ? `+${search.listPicos}/search` : ''),
  };
}

/**
 * The most that a request can cost, however its input divides into cached and uncached and whichever tier its true size falls in:
 * what is held before it runs. Each of the `choices` (Chat's `n`) may use all the output and be billed the input again; `searches` is the
 * most that the provider may run.
 */
export function worstCaseMicros(price: AppliedPrice, request: InputSize & { readonly outputTokens: number }): Micros {
  const outputTokens = BigInt(request.outputTokens) * BigInt(request.choices);
  const costs = worstInputs(price, request).map((worst) => worst.inputPicos + outputTokens * worst.outputPrice);
  return roundUpToMicro(costs.reduce(larger));
}

/** The inverse of `worstCaseMicros`: the most output tokens a choice may have within an amount; 0 when not one fits. */
export function affordableOutputTokens(price: AppliedPrice, request: InputSize & { readonly amountMicros: Micros }): number {
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

/** What a request can be billed for beside its output. */
type InputSize = { readonly inputTokensUpper: number; readonly choices: number; readonly searches?: number };

/** `inputPicos`: the searches included, which like the input are there whatever the output. */
type WorstInput = { readonly inputPicos: bigint; readonly outputPrice: bigint };

/** One for every tier that the input can still turn out to be in: the estimate is an upper bound, and no tier need be the dearest. */
function worstInputs(
  { list, search = freeSearch }: AppliedPrice,
  { inputTokensUpper, choices, searches = 0 }: InputSize,
): WorstInput[] {
  const inputTokens = inputTokensUpper * choices;
  const highest = tierIndexOf(list, inputTokens);
  const reachable = [list.base, ...list.tiers.slice(0, highest + 1).map((tier) => tier.prices)];
  return reachable.map((prices) => ({
    inputPicos: BigInt(inputTokens) * BigInt(dearestInput(prices)) + BigInt(searches) * search.listPicos,
    outputPrice: BigInt(prices.output),
  }));
}

function dearestInput(prices: TokenPrices): PicosPerToken {
  return Math.max(prices.input, prices.cacheRead, prices.cacheWrite, prices.cacheWrite1h) as PicosPerToken;
}

/** −1: the base price. Tiers stand by rising threshold. */
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

function factorOf({ markup, multiplierPpm }: PriceFactor, { isListPrice }: { readonly isListPrice: boolean }): bigint {
  return BigInt(isListPrice ? millionth : Math.round(markup * millionth)) * BigInt(multiplierPpm);
}

/** `factor` is in millionths of millionths. */
function scaleUp(picos: Picos, factor: bigint): Picos {
  return (picos * factor + wholeFactor - 1n) / wholeFactor;
}

function scalePrice(price: PicosPerToken, factor: bigint): PicosPerToken {
  const scaled = Number(scaleUp(BigInt(price), factor));
  if (!Number.isSafeInteger(scaled))
    throw new RangeError(`the price of ${price} picodollars a token is out of range with its markup`);
  return scaled as PicosPerToken;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
