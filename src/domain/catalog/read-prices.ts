// Converts configured token prices (USD per million) to whole picodollars a token.
import {
  priceSetsOf,
  pricesOf,
  type ModelEntry,
  type PriceEntry,
  type PriceSetEntry,
  type TokenPricesEntry,
  type ToolPricesEntry,
} from '../../config/model-schema.ts';
import { picosFromUsd, picosFromUsdPerMillion } from '../../lib/money.ts';
import { serviceTiers } from '../../canonical/service-tier.ts';
import type { PriceSet, PriceVariant, PriceVersion, TokenPrices } from './model.ts';
import { scalePriceSet } from './scale-prices.ts';
import { readWeeklyHours } from './weekly-hours.ts';

type Priced = Pick<ModelEntry, 'prices'>;

/** Returns the newest first; an empty list when the entry has no price. */
export function readPrices(entry: Priced, isListPrice: boolean): readonly PriceVersion[] {
  const versions = pricesOf(entry).map((price) => ({
    version: price.effective_from ?? '0',
    effectiveFromMs: price.effective_from === undefined ? 0 : Date.parse(price.effective_from),
    isListPrice,
    ...readPriceSet(price),
    variants: readVariants(price),
    ...readUnit(price),
  }));
  return versions.toSorted((a, b) => b.effectiveFromMs - a.effectiveFromMs);
}

/** The price of what is sold in place of tokens. */
function readUnit({
  million_characters: characters,
  search,
  minute,
}: PriceEntry): Pick<PriceVersion, 'unit'> {
  if (search !== undefined) return { unit: picosFromUsd(search) };
  // A second, whose price is rounded up to a picodollar.
  if (minute !== undefined) return { unit: (picosFromUsd(minute) + 59n) / 60n };
  return characters === undefined ? {} : { unit: BigInt(picosFromUsdPerMillion(characters)) };
}

function readPriceSet(entry: PriceSetEntry): PriceSet {
  return {
    base: readTokenPrices(entry),
    tiers: (entry.tiers ?? []).map((tier) => ({
      aboveInputTokens: tier.above_input_tokens,
      prices: readTokenPrices(tier),
    })),
  };
}

/** Hours that overlap: the first in the list counts. */
function readVariants(price: PriceEntry): PriceVariant[] {
  const { service_tiers: tiers = {}, hours = [], batch } = price;
  return [
    ...serviceTiers.flatMap((tier) => {
      const entry = tiers[tier];
      return entry ? [{ tier, hours: null, ...readPriceSet(entry) }] : [];
    }),
    ...hours.flatMap(({ utc, ...entry }) => {
      const set = readPriceSet(entry);
      return utc.map((text) => ({ tier: null, hours: readWeeklyHours(text), ...set }));
    }),
    ...(batch === undefined
      ? []
      : [{ tier: 'batch', hours: null, ...scalePriceSet(readPriceSet(price), batch) } as const]),
  ];
}

/**
 * Returns the buckets with an explicit price of 0, at any time, in any tier and for any length. Only
 * models that write or speak have output. A model with a price for another unit has no price for tokens.
 */
export function freePricesOf(entry: Priced & Pick<ModelEntry, 'type'>): string[] {
  const { type = 'chat' } = entry;
  // Its vendors give it away.
  if (type === 'moderation') return [];
  const versions = pricesOf(entry);
  const units = (['million_characters', 'search', 'minute'] as const).filter((unit) =>
    versions.some((version) => version[unit] !== undefined),
  );
  // A model that sells another unit has no price of tokens.
  if (units.length > 0)
    return units.filter((unit) => versions.some((version) => version[unit] === 0));
  const prices = versions.flatMap(priceSetsOf).flatMap((set) => [set, ...(set.tiers ?? [])]);
  const hasOutput = type === 'chat' || type === 'speech' || type === 'transcription';
  return tokenBuckets.filter(
    (bucket) => (hasOutput || bucket !== 'output') && prices.some((price) => price[bucket] === 0),
  );
}

/** Returns the tools with an explicit price of 0 per call. */
export function freeToolsOf(prices: ToolPricesEntry = {}): string[] {
  return Object.entries(prices).flatMap(([name, price]) => (price === 0 ? [name] : []));
}

export const tokenBuckets = [
  'input',
  'output',
  'cache_read',
  'cache_write',
  'cache_write_1h',
  'audio',
] as const;

/**
 * Reads the prices of all buckets. A missing cache price defaults to the input price. A missing
 * one-hour write price defaults to twice the input price, as Anthropic charges, but at least the
 * price of a short write.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching#pricing (read 2026-11-23).
 */
function readTokenPrices({
  input,
  output,
  cache_read,
  cache_write,
  cache_write_1h,
  audio,
}: TokenPricesEntry): TokenPrices {
  return {
    input: picosFromUsdPerMillion(input),
    output: picosFromUsdPerMillion(output),
    cacheRead: picosFromUsdPerMillion(cache_read ?? input),
    cacheWrite: picosFromUsdPerMillion(cache_write ?? input),
    cacheWrite1h: picosFromUsdPerMillion(cache_write_1h ?? Math.max(2 * input, cache_write ?? 0)),
    ...(audio !== undefined && { audio: picosFromUsdPerMillion(audio) }),
  };
}
