// An image model in GET /v1/models/info: the fields of every model, without token prices, and the
// image fields.
import type { ImageModel, ImageTier, PicosByTier } from '../../terms/image-model.ts';
import { type Picos, usdFromPicos } from '../../lib/money.ts';
import { scaleByFactor, type PriceFactor } from './price.ts';

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

/** Returns an account's prices, in USD or the unit of `toUnit`; null when the model has none. */
export function imagePricesOf(
  { price, inputImages }: Pick<ImageModel, 'price' | 'inputImages'>,
  factor: PriceFactor,
  toUnit: (picos: Picos) => number = usdFromPicos,
) {
  if (!price) return null;
  const scaled = (picos: bigint) => toUnit(scaleByFactor(picos, factor, price));
  const byTier = (prices: PicosByTier): Readonly<Partial<Record<ImageTier, number>>> =>
    Object.fromEntries(Object.entries(prices).map(([tier, picos]) => [tier, scaled(picos)]));
  const perMillion = (picos: number) => scaled(BigInt(picos) * 1_000_000n);
  return {
    per_megapixel: price.perMegapixel,
    output: byTier(price.output),
    further_megapixel: price.perMegapixel ? byTier(price.furtherMegapixel) : {},
    input_per_megapixel: price.inputPerMegapixel,
    input_image: inputImages.max > 0 ? byTier(price.input) : {},
    tokens: price.tokens && {
      text: perMillion(price.tokens.text),
      cached_text: perMillion(price.tokens.cachedText),
      image: perMillion(price.tokens.image),
      cached_image: perMillion(price.tokens.cachedImage),
      output: perMillion(price.tokens.output),
    },
  };
}
