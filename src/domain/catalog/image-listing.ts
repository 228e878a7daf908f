// An image model in GET /v1/models/info: the fields of every model, without token prices, and the
// image fields.
import type { ImageModel, ImageTier, PicosByTier } from '../../terms/image-model.ts';
import { usdFromPicos } from '../../lib/money.ts';
import { scaleByFactor, type PriceFactor } from './price.ts';

type UsdByTier = Readonly<Partial<Record<ImageTier, number>>>;

type ImagePrices = {
  /**
   * True when `output` is the price of a megapixel, false when it is the price of a whole image.
   */
  readonly per_megapixel: boolean;
  /** USD by quality or resolution. */
  readonly output: UsdByTier;
  /** USD for each megapixel after the first; empty when `output` is the price of a whole image. */
  readonly further_megapixel: UsdByTier;
  /**
   * True when `input_image` is the price of a megapixel of an input image, false when it is the
   * price of a whole one.
   */
  readonly input_per_megapixel: boolean;
  /** USD for each input image. */
  readonly input_image: UsdByTier;
  /**
   * USD per million tokens when the provider's token count is charged, else null. The other prices
   * then apply to answers without a count.
   */
  readonly tokens: Readonly<
    Record<'text' | 'cached_text' | 'image' | 'cached_image' | 'output', number>
  > | null;
};

export type ImageInfoEntry = {
  readonly id: string;
  readonly display_name: string;
  readonly type: 'image';
  readonly mode: ImageModel['mode'];
  readonly family: ImageModel['family'];
  readonly max_input_images: number;
  readonly context_window: 0;
  readonly max_input_tokens: 0;
  readonly max_prompt_tokens: 0;
  readonly max_output_tokens: 0;
  readonly supports_thinking: false;
  readonly supports_streaming: false;
  readonly supports_vision: boolean;
  /** 0, because every entry has numbers here. Images have their own prices, also per token. */
  readonly input_price_per_1m: 0;
  readonly output_price_per_1m: 0;
  readonly cache_write_price_per_1m: 0;
  readonly cache_read_price_per_1m: 0;
  readonly image_prices: ImagePrices;
};

/** Returns the entry of a model. It must have a price. */
export function imageInfoEntry(id: string, model: ImageModel, factor: PriceFactor): ImageInfoEntry {
  return {
    id,
    display_name: model.displayName,
    type: 'image',
    mode: model.mode,
    family: model.family,
    max_input_images: model.inputImages.max,
    context_window: 0,
    max_input_tokens: 0,
    max_prompt_tokens: 0,
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

/** Returns an account's prices in USD; null when the model has none. */
export function imagePricesOf(
  { price, inputImages }: Pick<ImageModel, 'price' | 'inputImages'>,
  factor: PriceFactor,
) {
  if (!price) return null;
  const usdOf = (prices: PicosByTier): UsdByTier =>
    Object.fromEntries(
      Object.entries(prices).map(([tier, picos]) => [
        tier,
        usdFromPicos(scaleByFactor(picos, factor, price)),
      ]),
    );
  const usdPerMillion = (picos: number) =>
    usdFromPicos(scaleByFactor(BigInt(picos) * 1_000_000n, factor, price));
  return {
    per_megapixel: price.perMegapixel,
    output: usdOf(price.output),
    further_megapixel: price.perMegapixel ? usdOf(price.furtherMegapixel) : {},
    input_per_megapixel: price.inputPerMegapixel,
    input_image: inputImages.max > 0 ? usdOf(price.input) : {},
    tokens: price.tokens && {
      text: usdPerMillion(price.tokens.text),
      cached_text: usdPerMillion(price.tokens.cachedText),
      image: usdPerMillion(price.tokens.image),
      cached_image: usdPerMillion(price.tokens.cachedImage),
      output: usdPerMillion(price.tokens.output),
    },
  } satisfies ImagePrices;
}
