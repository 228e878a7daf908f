// Reads prices as they are written down (USD per million tokens) into whole picodollars a token.
import { pricesOf, type ModelEntry, type TokenPricesEntry, type ToolPricesEntry } from '../config/model-schema.ts';
import { picosFromUsdPerMillion } from '../lib/money.ts';
import type { PriceVersion, TokenPrices } from './model.ts';

type Priced = Pick<ModelEntry, 'prices'>;

/** Newest first; none when the entry states no price. */
export function readPrices(entry: Priced, isListPrice: boolean): readonly PriceVersion[] {
  const versions = pricesOf(entry).map((price) => ({
    version: price.effective_from ?? '0',
    effectiveFromMs: price.effective_from === undefined ? 0 : Date.parse(price.effective_from),
    isListPrice,
    base: readTokenPrices(price),
    tiers: (price.tiers ?? []).map((tier) => ({ aboveInputTokens: tier.above_input_tokens, prices: readTokenPrices(tier) })),
  }));
  return versions.toSorted((a, b) => b.effectiveFromMs - a.effectiveFromMs);
}

/** The buckets whose price is an explicit 0 at any time, in any tier. */
export function freePricesOf(entry: Priced): string[] {
  const prices = pricesOf(entry).flatMap((price) => [price, ...(price.tiers ?? [])]);
  return tokenBuckets.filter((bucket) => prices.some((price) => price[bucket] === 0));
}

/** The tools whose price a call is an explicit 0. */
export function freeToolsOf(prices: ToolPricesEntry = {}): string[] {
  return Object.entries(prices).flatMap(([name, price]) => (price === 0 ? [name] : []));
}

const tokenBuckets = ['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h'] as const;

/** An unknown cache price is the input price; of a one-hour write, the price of any other write. */
function readTokenPrices({ input, output, cache_read, cache_write, cache_write_1h }: TokenPricesEntry): TokenPrices {
  return {
    input: picosFromUsdPerMillion(input),
    output: picosFromUsdPerMillion(output),
    cacheRead: picosFromUsdPerMillion(cache_read ?? input),
    cacheWrite: picosFromUsdPerMillion(cache_write ?? input),
    cacheWrite1h: picosFromUsdPerMillion(cache_write_1h ?? cache_write ?? input),
  };
}
