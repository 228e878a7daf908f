// What GET /v1/models/info says of a model that makes images: the fields of every model, with nothing a token to pay, and its own prices.
import type { ImageModel, ImageTier } from '../canonical/image-model.ts';
import { usdFromPicos, type Picos } from '../lib/money.ts';
import { scaleByFactor, type PriceFactor } from './price.ts';

type UsdByTier = Readonly<Partial<Record<ImageTier, number>>>;

type ImagePrices = {
  /** Whether `output` is the price of a megapixel of an image, or of the whole image. */
  readonly per_megapixel: boolean;
  /** USD by quality or by resolution. */
  readonly output: UsdByTier;
  /** USD for each image that is put in. */
  readonly input_image: UsdByTier;
};

export type ImageInfoEntry = {
  readonly id: string;
  readonly display_name: string;
  readonly type: 'image';
  readonly mode: ImageModel['mode'];
  readonly family: ImageModel['family'];
  readonly max_input_images: number;
  readonly max_input_tokens: 0;
  readonly max_output_tokens: 0;
  readonly supports_thinking: false;
  readonly supports_streaming: false;
  readonly supports_vision: boolean;
  readonly input_price_per_1m: 0;
  readonly output_price_per_1m: 0;
  readonly cache_write_price_per_1m: 0;
  readonly cache_read_price_per_1m: 0;
  readonly image_prices: ImagePrices;
};

/** The model has a price. */
export function imageInfoEntry(id: string, model: ImageModel, factor: PriceFactor): ImageInfoEntry {
  return {
    id,
    display_name: model.displayName,
    type: 'image',
    mode: model.mode,
    family: model.family,
    max_input_images: model.inputImages.max,
    max_input_tokens: 0,
    max_output_tokens: 0,
    supports_thinking: false,
    supports_streaming: false,
    supports_vision: model.inputImages.max > 0,
    input_price_per_1m: 0,
    output_price_per_1m: 0,
    cache_write_price_per_1m: 0,
    cache_read_price_per_1m: 0,
    image_prices: imagePricesOf(model, factor)!,
  };
}

/** The prices of an account in USD; null where the model has none. */
export function imagePricesOf({ price, inputImages }: Pick<ImageModel, 'price' | 'inputImages'>, factor: PriceFactor) {
  if (!price) return null;
  const usdOf = (prices: Readonly<Partial<Record<ImageTier, Picos>>>): UsdByTier =>
    Object.fromEntries(Object.entries(prices).map(([tier, picos]) => [tier, usdFromPicos(scaleByFactor(picos, factor, price))]));
  return {
    per_megapixel: price.perMegapixel,
    output: usdOf(price.output),
    input_image: inputImages.max > 0 ? usdOf(price.input) : {},
  } satisfies ImagePrices;
}
