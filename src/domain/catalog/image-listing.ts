// An image model in GET /v1/models/info: the fields of every model, without token prices, and the
// image fields.
import type { ImageModel, ImageTier, PicosByTier } from '../../terms/image-model.ts';
import { usdFromPicos } from '../../lib/money.ts';
import { scaleByFactor, type PriceFactor } from './price.ts';

type UsdByTier = Readonly<Partial<Record<ImageTier, number>>>;

export type ImageInfoEntry = ReturnType<typeof imageInfoEntry>;

/** Returns the entry of a model. It must have a price. */
export function imageInfoEntry(id: string, model: ImageModel, factor: PriceFactor) {
  return {
    id,
    display_name: model.displayName,
    type: 'image' as const,
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
    // 0, because every entry has numbers here. Images have their own prices, also per token.
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
  };
}
