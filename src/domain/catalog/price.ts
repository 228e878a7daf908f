// The exact cost of a request: picodollars are summed as big integers and rounded up once, to a
// microdollar. Holds and charges use the same prices, so a hold is never below its charge.
//
// A model may have several prices: of service tiers, and of hours of the week. A hold covers those
// that its request allows. The charge follows the tier that the answer names and the time when the
// answer ends, and never exceeds the dearest that was allowed.
import { costOf, freePrice, type PriceTerms, type UnitPrices } from '../../terms/price-terms.ts';
import { totalInputTokens, type Usage } from '../../canonical/usage.ts';
import {
  picosPerMicro,
  roundUpToMicro,
  type Micros,
  type Picos,
  type PicosPerToken,
} from '../../lib/money.ts';
import type { PriceTier, ServiceTier } from '../../canonical/service-tier.ts';
import type { Model, PriceSet, PriceVersion, TokenPrices } from './model.ts';
import { millionth, scalePriceSet, scaleSet, scaleUp, wholeFactor } from './scale-prices.ts';
import { shareOf } from './weekly-hours.ts';

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
  /** Left out: the standard tier outside of special hours. */
  readonly allowed?: Allowed;
  /** The price of a provider-run web search; absent when the request has none. */
  readonly search?: { readonly listPicos: Picos; readonly upstreamPicos: Picos };
  /** Absent: none of the request's routes has an own key of its account. */
  readonly ownKey?: OwnKeyTerms;
  /** The price of a call with such a key. */
  readonly isOwnKey?: boolean;
};

/** What is charged for a request that runs with an account's own key. */
export type OwnKeyTerms = {
  /** In millionths of what the account would pay otherwise. */
  readonly pricePpm: number;
  readonly feePicos: Picos;
};

/** What a request may be billed by. */
export type Allowed = {
  /** Left out: the standard tier only. With another, the provider may fall back to the standard. */
  readonly tier?: ServiceTier | undefined;
  /** The span in which its answer may end. */
  readonly fromMs: number;
  readonly untilMs: number;
};

type PricedUsage = {
  readonly tier: PriceTier | 'standard';
  readonly costMicros: Micros;
  /**
   * By the provider's price; if the operator set the price, by that one, because no other is known.
   */
  readonly upstreamCostMicros: Micros;
  /** The price terms of both costs. */
  readonly terms: PriceTerms;
  /**
   * The version, with the service tier or the hours, the threshold of a long input, and the
   * picodollars per search, of all images and of all sound beyond the input price, where they applied:
   * `2026-12-01`, `0/flex>272000`, `0@Mon-Fri 04:00-06:00`, `0+10000000000/search+53000000000/images`,
   * `0+700000000/audio`. `0~own`: a part of it, with the account's own key.
   */
  readonly priceVersion: string;
};

const standard = { tier: null, hours: null } as const;
/** More tokens than any request has; "unlimited" for a free model. */
const outputTokensMax = 100_000_000;

/**
 * Returns a model's price for an account at a time; null when it has none then and must not run.
 */
export function priceFor(
  model: Model,
  at: PriceFactor & { readonly nowMs: number },
): AppliedPrice | null {
  const upstream = priceAt(model, at.nowMs);
  return upstream && { list: listPrices(upstream, at), upstream };
}

/**
 * Returns the price of a call with the account's own key, of which the provider bills the operator
 * nothing. A search is a part of the call unless the gateway runs it (`isOwnSearch`).
 */
export function ownKeyPrice(
  price: AppliedPrice,
  { isOwnSearch }: { readonly isOwnSearch: boolean },
): AppliedPrice {
  const { list, upstream, search, ownKey } = price;
  const share = { markup: 1, multiplierPpm: ownKey!.pricePpm };
  const part = search && {
    listPicos: scaleByFactor(search.listPicos, share, { isListPrice: true }),
    upstreamPicos: 0n,
  };
  return {
    ...price,
    list: listPrices(list, share),
    upstream: listPrices(upstream, { markup: 1, multiplierPpm: 0 }),
    ...(part && !isOwnSearch && { search: part }),
    isOwnKey: true,
  };
}

/** Returns the price of a route whose provider bills `costPpm` millionths of the price. */
export function atCost(price: AppliedPrice, costPpm: number): AppliedPrice {
  if (costPpm === listPricePpm) return price;
  return { ...price, upstream: listPrices(price.upstream, { markup: 1, multiplierPpm: costPpm }) };
}

/** The end of a price's version for a call with the account's own key. */
export const ownKeyMark = '~own';

export function isOwnKeyVersion(priceVersion: string): boolean {
  return priceVersion.endsWith(ownKeyMark);
}

/** True when sound had a price of its own; how much there was is not in the books. */
export function hasSound(priceVersion: string): boolean {
  return priceVersion.endsWith('/audio');
}

/** Returns the newest price in effect; null when the price is unknown or in the future. */
export function priceAt(model: Pick<Model, 'prices'>, nowMs: number): PriceVersion | null {
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
    ...scaleSet(version, factor),
    variants: version.variants.map((variant) => ({ ...variant, ...scaleSet(variant, factor) })),
    ...(version.unit !== undefined && { unit: scaleUp(version.unit, factor) }),
  };
}

/**
 * Returns the price of a request that a provider's batch API runs, whatever tier its answer names;
 * null: no such price is known.
 */
export function batchPrice(price: AppliedPrice): AppliedPrice | null {
  const isKnown = price.list.variants.some(({ tier }) => tier === 'batch');
  return isKnown ? passedPrice(price) : null;
}

/** The part of its price that most hosts bill. */
const hostsBatchPart = 0.5;

/**
 * Like `batchPrice`, for a line that was passed to a provider. When the operator has removed the price
 * since, it is half of the model's price.
 */
export function passedPrice(price: AppliedPrice): AppliedPrice {
  const only = (version: PriceVersion): PriceVersion => {
    const found =
      version.variants.find(({ tier }) => tier === 'batch') ??
      scalePriceSet(version, hostsBatchPart);
    const { base, tiers } = found;
    return { ...version, version: `${version.version}/batch`, base, tiers, variants: [] };
  };
  return { ...price, list: only(price.list), upstream: only(price.upstream) };
}

/** Returns the prices without those of long inputs. */
export function withoutTiers(version: PriceVersion): PriceVersion {
  const variants = version.variants.map((variant) => ({ ...variant, tiers: [] }));
  return { ...version, tiers: [], variants };
}

/** Applies markup and multiplier like `listPrices`, rounded up to a whole picodollar. */
export function scaleByFactor(
  picos: Picos,
  factor: PriceFactor,
  { isListPrice }: { readonly isListPrice: boolean },
): Picos {
  return scaleUp(picos, factorOf(factor, { isListPrice }));
}

/** Images, and the price of all of them. */
export type ImagesRun = {
  readonly count: number;
  readonly listPicos: Picos;
  readonly upstreamPicos: Picos;
};

/** A request that was run. */
type Run = {
  readonly usage: Usage;
  readonly searches?: number;
  /** Images that the gateway drew for the model. Left out: none. */
  readonly images?: ImagesRun;
  /** When the answer ended. */
  readonly nowMs: number;
};

/**
 * Returns the cost of a finished request: its tokens, web searches and images.
 * The whole input, cached or not, determines the price for its length, which prices the whole
 * request. A tier that has no price is charged as the one that was asked for; one that was not
 * asked for, at most as the dearest that was allowed.
 */
export function priceUsage(price: AppliedPrice, run: Run): PricedUsage {
  const { list, search = freePrice } = price;
  const { usage, searches = 0, images } = run;
  const variant = chargedVariant(price, run);
  const set = setOf(list, variant);
  const long = tierIndexOf(set, totalInputTokens(usage));
  const { tier, hours } = variant < 0 ? standard : list.variants[variant]!;
  const terms = termsOf(price, variant, run);
  const sound = soundPicos(pricesOf(set, long), usage);
  return {
    tier: tier ?? 'standard',
    costMicros: costOf(terms.list, { usage, searches, images: 0 }),
    upstreamCostMicros: costOf(terms.upstream, { usage, searches, images: 0 }),
    terms,
    priceVersion:
      list.version +
      (tier ? `/${tier}` : '') +
      (hours ? `@${hours.text}` : '') +
      (long < 0 ? '' : `>${set.tiers[long]!.aboveInputTokens}`) +
      (searches > 0 ? `+${search.listPicos}/search` : '') +
      (images ? `+${images.listPicos}/images` : '') +
      (sound === 0n ? '' : `+${sound}/audio`) +
      (price.isOwnKey ? ownKeyMark : ''),
  };
}

/** Returns what a request has cost the operator, also by a tier that nobody asked for. */
export function upstreamCostOf(price: AppliedPrice, run: Run): Micros {
  const { usage, searches = 0 } = run;
  const upstream = upstreamTerms(price, usedVariant(price, run), run);
  return costOf(upstream, { usage, searches, images: 0 });
}

function termsOf(price: AppliedPrice, variant: number, run: Run): PriceTerms {
  return { list: listTerms(price, variant, run), upstream: upstreamTerms(price, variant, run) };
}

function listTerms(price: AppliedPrice, variant: number, run: Run): UnitPrices {
  const { list, search = freePrice, ownKey, isOwnKey } = price;
  const fee = isOwnKey ? ownKey!.feePicos : 0n;
  return unitsOf(setOf(list, variant), run.usage, {
    search: search.listPicos,
    request: fee + (run.images?.listPicos ?? 0n),
  });
}

function upstreamTerms(price: AppliedPrice, variant: number, run: Run): UnitPrices {
  const { upstream, search = freePrice } = price;
  return unitsOf(setOf(upstream, variant), run.usage, {
    search: search.upstreamPicos,
    request: run.images?.upstreamPicos ?? 0n,
  });
}

/** Each price by its name: this runs several times a request, and copying an object is slow. */
function unitsOf(
  set: PriceSet,
  usage: Usage,
  { search, request }: Pick<UnitPrices, 'search' | 'request'>,
): UnitPrices {
  const prices = pricesOf(set, tierIndexOf(set, totalInputTokens(usage)));
  const { input, output, cacheRead, cacheWrite, cacheWrite1h } = prices;
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    cacheWrite1h,
    search,
    image: 0n,
    request: request + soundPicos(prices, usage),
  };
}

/**
 * Returns what the sound of a request costs beyond its price as other input. In the cache it is
 * cheaper in the ratio of other input there.
 */
function soundPicos(
  { input, cacheRead, audio = input }: TokenPrices,
  { audioTokens = 0, cacheReadAudioTokens = 0 }: Partial<Usage>,
): Picos {
  if (audioTokens + cacheReadAudioTokens === 0) return 0n;
  const more = BigInt(audio) - BigInt(input);
  const cached = BigInt(cacheReadAudioTokens) * more;
  return (
    BigInt(audioTokens) * more +
    (cacheRead < input ? (cached * BigInt(cacheRead)) / BigInt(input) : cached)
  );
}

const ownPrices = [-1];

/** −1: the version's own prices. An array that is asked for −1 is slow. */
function setOf(version: PriceVersion, variant: number): PriceSet {
  return variant < 0 ? version : version.variants[variant]!;
}

/** Returns the tier that the answer names, if it has a price, else the one that was asked for. */
function usedVariant({ list, allowed }: AppliedPrice, { usage, nowMs }: Run): number {
  const { variants } = list;
  if (variants.length === 0) return -1;
  const indexOf = (name: string | undefined) => variants.findIndex(({ tier }) => tier === name);
  const named = indexOf(usage.tier);
  const used = named >= 0 || usage.tier === 'standard' ? named : indexOf(allowed?.tier);
  const now = { fromMs: nowMs, untilMs: nowMs };
  return used >= 0
    ? used
    : variants.findIndex(({ hours }) => hours && shareOf(hours, now) === 'all');
}

/** Returns the variant that was used, or the dearest allowed one if that costs less. */
function chargedVariant(price: AppliedPrice, run: Run): number {
  const used = usedVariant(price, run);
  const allowed = allowedVariants(price);
  if (allowed.includes(used)) return used;
  const { usage, searches = 0 } = run;
  const cost = (variant: number) =>
    costOf(listTerms(price, variant, run), { usage, searches, images: 0 });
  const dearest = allowed.reduce((one, other) => (cost(other) > cost(one) ? other : one));
  return cost(used) <= cost(dearest) ? used : dearest;
}

/** Returns at least one variant. Hours count when the answer may end in them. */
function allowedVariants({ list, allowed }: AppliedPrice): readonly number[] {
  if (!allowed || list.variants.length === 0) return ownPrices;
  const shares = list.variants.map(({ tier, hours }) => {
    if (hours) return shareOf(hours, allowed);
    return tier === allowed.tier ? 'some' : 'none';
  });
  const others = shares.flatMap((share, index) => (share === 'none' ? [] : [index]));
  return shares.includes('all') ? others : [-1, ...others];
}

/**
 * Returns the highest possible cost of a request, for any division of its input into cached and
 * uncached and for any price that may apply. This is the amount of its hold. Each of the
 * `choices` (Chat's `n`) may use all the output and be billed its prompt again; `searches` is the
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
  /** The input of all prompts together. */
  readonly inputTokensUpper: number;
  /** The part of the input that may be sound. Left out: none. */
  readonly audioTokensUpper?: number;
  readonly choices: number;
  /** Each has `choices / prompts` answers. Left out: 1. */
  readonly prompts?: number;
  readonly searches?: number;
  /** The most that images can cost; left out: there are none. */
  readonly imagesPicos?: Picos;
  /** False when the input cannot be cached for an hour; true by default. */
  readonly cachesLong?: boolean;
};

/** `inputPicos` includes searches, images and a fee, which are independent of the output too. */
type WorstInput = { readonly inputPicos: bigint; readonly outputPrice: bigint };

/**
 * Returns one result for each price that may apply: the estimate of the input is an upper bound, and
 * any price can be the most expensive.
 */
function worstInputs(price: AppliedPrice, request: InputSize): WorstInput[] {
  const { inputTokensUpper, audioTokensUpper = 0, choices, prompts = 1 } = request;
  const { searches = 0, imagesPicos = 0n, cachesLong = true } = request;
  const { list, search = freePrice, ownKey } = price;
  const inputTokens = inputTokensUpper * (choices / prompts);
  const audioTokens = audioTokensUpper * (choices / prompts);
  const reachable = allowedVariants(price).flatMap((variant) => {
    const { base, tiers } = setOf(list, variant);
    return [
      base,
      ...tiers.filter((tier) => inputTokens > tier.aboveInputTokens).map((tier) => tier.prices),
    ];
  });
  return reachable.map((prices) => ({
    inputPicos:
      BigInt(inputTokens) * BigInt(highestInputPrice(prices, cachesLong)) +
      larger(soundPicos(prices, { audioTokens }), 0n) +
      BigInt(searches) * search.listPicos +
      imagesPicos +
      (ownKey?.feePicos ?? 0n),
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
function tierIndexOf({ tiers }: PriceSet, inputTokens: number): number {
  return tiers.findLastIndex((tier) => inputTokens > tier.aboveInputTokens);
}

function pricesOf({ base, tiers }: PriceSet, tier: number): TokenPrices {
  return tier < 0 ? base : tiers[tier]!.prices;
}

function factorOf(
  { markup, multiplierPpm }: PriceFactor,
  { isListPrice }: { readonly isListPrice: boolean },
): bigint {
  return BigInt(isListPrice ? millionth : Math.round(markup * millionth)) * BigInt(multiplierPpm);
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
