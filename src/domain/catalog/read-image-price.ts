// Converts configured image prices (USD) to whole picodollars.
import type { ImagePrice, ImageTier } from '../../terms/image-model.ts';
import type { ImagePricesEntry } from '../../config/image-model-schema.ts';
import { picosFromUsd, picosFromUsdPerMillion, type Picos } from '../../lib/money.ts';
import { tiersOf, type FamilyEntry } from './image-family.ts';

/**
 * Converts an entry. It must be checked with `unpricedTiersOf`, so that every tier of the family
 * has a price.
 */
export function readImagePrice(
  { output, further_megapixel: further, input_image: input = 0, tokens, ...form }: ImagePricesEntry,
  { family, isListPrice }: { readonly family: FamilyEntry; readonly isListPrice: boolean },
): ImagePrice {
  const picosOf = (usdOf: (tier: ImageTier) => number): Partial<Record<ImageTier, Picos>> =>
    Object.fromEntries(tiersOf(family).map((tier) => [tier, picosFromUsd(usdOf(tier))]));
  return {
    isListPrice,
    perMegapixel: form.per_megapixel ?? family.per_megapixel,
    output: picosOf((tier) => output[tier]!),
    furtherMegapixel: picosOf((tier) => (further ?? output)[tier]!),
    inputPerMegapixel: form.input_per_megapixel ?? false,
    tokens: tokens
      ? {
          text: picosFromUsdPerMillion(tokens.text),
          cachedText: picosFromUsdPerMillion(tokens.cached_text ?? tokens.text),
          image: picosFromUsdPerMillion(tokens.image),
          cachedImage: picosFromUsdPerMillion(tokens.cached_image ?? tokens.image),
          output: picosFromUsdPerMillion(tokens.output),
        }
      : null,
    input: picosOf((tier) => (typeof input === 'number' ? input : input[tier]!)),
  };
}

type TierProblem = {
  readonly field: 'output' | 'further_megapixel' | 'input_image';
  readonly tier: string;
  readonly problem: string;
};

/**
 * Returns the mismatches between an entry's prices and its family's tiers: foreign tiers and tiers
 * without a price.
 */
export function unpricedTiersOf(
  prices: ImagePricesEntry,
  tiers: readonly ImageTier[],
): TierProblem[] {
  const { output, further_megapixel: further, input_image: input } = prices;
  return [
    ...compareTiers('output', output, tiers),
    ...(further ? compareTiers('further_megapixel', further, tiers) : []),
    ...(typeof input === 'object' ? compareTiers('input_image', input, tiers) : []),
  ];
}

function compareTiers(
  field: TierProblem['field'],
  prices: Readonly<Partial<Record<ImageTier, number>>>,
  tiers: readonly ImageTier[],
): TierProblem[] {
  const foreign = Object.keys(prices).filter((tier) => !tiers.some((known) => known === tier));
  const missing = tiers.filter((tier) => prices[tier] === undefined);
  return [
    ...foreign.map((tier) => ({ field, tier, problem: 'is not a tier of its family' })),
    ...missing.map((tier) => ({ field, tier, problem: 'is required: its price' })),
  ];
}
