// Reads the prices of images as they are written down (USD) into whole picodollars.
import type { ImagePrice, ImageTier } from '../canonical/image-model.ts';
import type { ImagePricesEntry } from '../config/image-model-schema.ts';
import { picosFromUsd, type Picos } from '../lib/money.ts';
import { tiersOf, type FamilyEntry } from './image-family.ts';

/** The entry has been checked: it prices each of the family's tiers. */
export function readImagePrice(
  { output, input_image: input = 0, per_megapixel: perMegapixel }: ImagePricesEntry,
  { family, isListPrice }: { readonly family: FamilyEntry; readonly isListPrice: boolean },
): ImagePrice {
  const picosOf = (usdOf: (tier: ImageTier) => number): Partial<Record<ImageTier, Picos>> =>
    Object.fromEntries(tiersOf(family).map((tier) => [tier, picosFromUsd(usdOf(tier))]));
  return {
    isListPrice,
    perMegapixel: perMegapixel ?? family.per_megapixel,
    output: picosOf((tier) => output[tier]!),
    input: picosOf((tier) => (typeof input === 'number' ? input : input[tier]!)),
  };
}

export type TierProblem = { readonly field: 'output' | 'input_image'; readonly tier: string; readonly problem: string };

/** What is wrong between the prices of an entry and the tiers of its family; nothing when each has one and no other is named. */
export function unpricedTiersOf({ output, input_image: input }: ImagePricesEntry, tiers: readonly ImageTier[]): TierProblem[] {
  return [
    ...compareTiers('output', output, tiers),
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
    ...foreign.map((tier) => ({ field, tier, problem: 'is not of its family' })),
    ...missing.map((tier) => ({ field, tier, problem: 'is required: its price' })),
  ];
}
