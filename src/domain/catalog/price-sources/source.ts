// A price list's data about a model, in our units. Lists are untrusted: an implausible value counts
// as missing.
import type { ServiceTier } from '../../../canonical/service-tier.ts';
import type { tokenBuckets } from '../read-prices.ts';

export type Bucket = (typeof tokenBuckets)[number];
/** USD per million tokens. */
export type StatedPrices = Readonly<Partial<Record<Bucket, number>>>;

/** USD a minute of audio, a million characters, a search unit. */
export const unitPrices = ['minute', 'million_characters', 'search'] as const;

export type StatedTier = StatedPrices & { readonly above_input_tokens: number };

export type StatedModel = {
  /** The current price; for prices that depend on the time of day, the highest. */
  readonly base: StatedPrices;
  readonly units?: Readonly<Partial<Record<(typeof unitPrices)[number], number>>>;
  readonly tiers: readonly StatedTier[];
  /** Prices of service tiers, and those outside of the dearest hours as `off_peak`. */
  readonly variants?: Readonly<Partial<Record<ServiceTier | 'off_peak', StatedPrices>>>;
  /** The longest input or context in tokens; lists give one or the other. */
  readonly contextTokens?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  /** The last day of the model, `YYYY-MM-DD`. */
  readonly retiresAt?: string | undefined;
  /** Lists omit what they do not know, so only explicit values are here. */
  readonly supports: Readonly<Partial<Record<'thinking' | 'vision' | 'audio' | 'tools', boolean>>>;
};

export type PriceSource = {
  readonly name: 'litellm' | 'genai-prices';
  /** null when the list does not contain the model. */
  readonly find: (route: {
    readonly provider: string;
    readonly model: string;
  }) => StatedModel | null;
  /** Returns a provider's ids of the chat models that the list has. */
  readonly list: (provider: string) => readonly string[];
};

const usdPerMillionMax = 10_000;
const tokensMax = 100_000_000;

/**
 * Returns a plausible price above 0. Lists write 0 for what is not charged separately, so 0 counts
 * as missing.
 */
export function readUsdPerMillion(value: unknown): number | undefined {
  if (typeof value !== 'number' || !(value > 0 && value <= usdPerMillionMax)) return undefined;
  // Rounded to six decimals, as in our catalogue: 0.0000002 × 1,000,000 is 0.19999999999999998.
  return Number(value.toFixed(6));
}

export function readTokens(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= tokensMax
    ? value
    : undefined;
}

/** Returns at most sixteen tiers, ordered by threshold; a tier without prices is dropped. */
export function tiersOf(byThreshold: ReadonlyMap<number, StatedPrices>): StatedTier[] {
  return [...byThreshold]
    .filter(([, prices]) => Object.keys(prices).length > 0)
    .map(([above, prices]) => ({ above_input_tokens: above, ...prices }))
    .toSorted((one, other) => one.above_input_tokens - other.above_input_tokens)
    .slice(0, 16);
}
