// The exact price of one image, in whole picodollars. A request's charge is this times the
// delivered images, rounded up once to a microdollar.
import type { ImageModel, ImagePrice, ImageTier, PixelSize } from '../../terms/image-model.ts';
import type { Picos } from '../../lib/money.ts';
import { scaleByFactor, type PriceFactor } from './price.ts';

/**
 * The price of one image for an account, and its cost to the operator; both include the input
 * images.
 */
export type ImageUnitPrice = { readonly listPicos: Picos; readonly upstreamPicos: Picos };

/** The parts of a request that determine its image price. */
export type PricedImage = {
  /** The size of each input image; null while unknown, which counts as the largest. */
  readonly inputs: readonly (PixelSize | null)[];
  readonly size: PixelSize | null;
  readonly quality: ImageTier | null;
  readonly resolution: ImageTier | null;
  /** Images that are shown while it is drawn. Left out: none. */
  readonly partials?: number;
};

const pixelsPerMegapixel = 1_024 * 1_024;

/**
 * Black Forest Labs scales larger images down before reading them. According to hosts of its
 * models, 2026-11-23: each image is rounded up separately and counts as at most four megapixels.
 * https://lumenfall.ai/models/black-forest-labs/flux.2-flex
 */
const inputMegapixelsMax = 4;

/**
 * Returns the price of ONE image of a request; null when the model has no price and must not run.
 *
 * @example unitPrice(model, { inputs: [], size: { width: 1536, height: 1024 }, quality: 'low',
 * resolution: null }, factor) // 2 megapixels
 */
export function unitPrice(
  { price }: Pick<ImageModel, 'price'>,
  image: PricedImage,
  factor: PriceFactor,
): ImageUnitPrice | null {
  const upstreamPicos = price && upstreamPriceOf(price, image);
  if (price === null || upstreamPicos === null) return null;
  return { listPicos: scaleByFactor(upstreamPicos, factor, price), upstreamPicos };
}

/** A megapixel is 1024 × 1024 pixels; a started one counts as a whole one. */
function megapixelsOf({ width, height }: PixelSize): number {
  return Math.ceil((width * height) / pixelsPerMegapixel);
}

function upstreamPriceOf(price: ImagePrice, image: PricedImage): Picos | null {
  const tier = image.quality ?? image.resolution;
  const outputPicos = tier === null ? undefined : price.output[tier];
  if (tier === null || outputPicos === undefined) return null;
  const further = price.perMegapixel && image.size ? megapixelsOf(image.size) - 1 : 0;
  const inputUnits = price.inputPerMegapixel
    ? sumOf(image.inputs.map(inputMegapixelsOf))
    : image.inputs.length;
  return (
    outputPicos +
    (price.furtherMegapixel[tier] ?? outputPicos) * BigInt(further) +
    (price.input[tier] ?? 0n) * BigInt(inputUnits)
  );
}

function inputMegapixelsOf(size: PixelSize | null): number {
  return size === null ? inputMegapixelsMax : Math.min(megapixelsOf(size), inputMegapixelsMax);
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
