// What one image costs, exactly: whole picodollars as big integers. The charge of a request is this times the images delivered, rounded
// up once, to a microdollar.
import type { ImageModel, ImagePrice, ImageTier, PixelSize } from '../canonical/image-model.ts';
import type { Picos } from '../lib/money.ts';
import { scaleByFactor, type PriceFactor } from './price.ts';

/** One image as an account pays it and as the operator does, its input images included. */
export type ImageUnitPrice = { readonly listPicos: Picos; readonly upstreamPicos: Picos };

/** What of a request decides the price of its images. */
export type PricedImage = {
  readonly images: readonly unknown[];
  readonly size: PixelSize | null;
  readonly quality: ImageTier | null;
  readonly resolution: ImageTier | null;
};

const pixelsPerMegapixel = 1_024 * 1_024;

/**
 * The price of ONE image of a request. null: the model has no price, and must not run.
 * @example unitPrice(model, { images: [], size: { width: 1536, height: 1024 }, quality: 'low', resolution: null }, factor) // 2 megapixels
 */
export function unitPrice({ price }: Pick<ImageModel, 'price'>, image: PricedImage, factor: PriceFactor): ImageUnitPrice | null {
  const upstreamPicos = price && upstreamPriceOf(price, image);
  if (price === null || upstreamPicos === null) return null;
  return { listPicos: scaleByFactor(upstreamPicos, factor, price), upstreamPicos };
}

/** A megapixel is 1024 × 1024 pixels; a part of one counts as a whole one. */
export function megapixelsOf({ width, height }: PixelSize): number {
  return Math.ceil((width * height) / pixelsPerMegapixel);
}

function upstreamPriceOf({ output, input, perMegapixel }: ImagePrice, image: PricedImage): Picos | null {
  const tier = image.quality ?? image.resolution;
  const outputPicos = tier === null ? undefined : output[tier];
  if (tier === null || outputPicos === undefined) return null;
  const megapixels = perMegapixel && image.size ? megapixelsOf(image.size) : 1;
  return outputPicos * BigInt(megapixels) + (input[tier] ?? 0n) * BigInt(image.images.length);
}
