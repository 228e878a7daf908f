// A model priced by tokens in GET /v1/models/info: its limits, capabilities and prices.
import { searchToolNames, type SearchToolName } from '../../terms/web-search.ts';
import { usdFromPicos, usdPerMillionFromPicos, type PicosPerToken } from '../../lib/money.ts';
import type { Model, PriceSet, PriceVersion, Route, TokenPrices } from './model.ts';
import { listPrices, priceFor, type PriceFactor } from './price.ts';
import { highestSearchPicos, type SearchProviders } from './search-price.ts';

export type ModelInfoEntry = ReturnType<typeof modelInfoEntry>;

type InfoView = PriceFactor & {
  readonly nowMs: number;
  /** The routes that may serve the caller. */
  readonly routes: readonly Route[];
  readonly providers: SearchProviders;
};

/** Returns the entry of a model. It must have a current price. */
export function modelInfoEntry(id: string, model: Model, view: InfoView) {
  const later = model.prices
    .filter(({ effectiveFromMs }) => effectiveFromMs > view.nowMs)
    .toReversed();
  return {
    id,
    display_name: model.displayName,
    ...(model.type !== 'chat' && { type: model.type }),
    ...(model.type === 'embedding' && { dimensions: model.dimensions }),
    context_window: model.contextTokens,
    // Some clients budget with it.
    max_input_tokens: model.contextTokens,
    max_prompt_tokens: model.maxInputTokens,
    max_output_tokens: model.maxOutputTokens,
    supports_thinking: model.supports.thinking,
    supports_streaming: model.supports.streaming,
    supports_vision: model.supports.vision,
    supports_audio: model.supports.audio,
    ...allPricesOf(model, priceFor(model, view)!.list),
    scheduled_prices: later.map((version) => ({
      effective_from: isoTime(version.effectiveFromMs),
      ...allPricesOf(model, listPrices(version, view)),
    })),
    search_prices: searchPricesOf(model, view),
  };
}

/** Without parts of a second. */
export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString().replace('.000Z', 'Z');
}

function allPricesOf({ type }: Model, version: PriceVersion) {
  const { unit } = version;
  return {
    ...tieredPricesOf(version),
    ...(type === 'speech' &&
      unit !== undefined && {
        price_per_1m_characters: usdPerMillionFromPicos(Number(unit) as PicosPerToken),
      }),
    ...(type === 'rerank' && unit !== undefined && { price_per_search_unit: usdFromPicos(unit) }),
    ...(type === 'transcription' &&
      unit !== undefined && { price_per_minute: usdFromPicos(unit * 60n) }),
    price_variants: version.variants.map((variant) => ({
      service_tier: variant.tier,
      hours_utc: variant.hours?.text ?? null,
      ...tieredPricesOf(variant),
    })),
  };
}

function tieredPricesOf({ base, tiers }: PriceSet) {
  return {
    ...pricesPerMillion(base),
    price_tiers: tiers.map(({ aboveInputTokens, prices }) => ({
      above_input_tokens: aboveInputTokens,
      ...pricesPerMillion(prices),
    })),
  };
}

/** Returns USD per million tokens. */
function pricesPerMillion({
  input,
  output,
  cacheWrite,
  cacheWrite1h,
  cacheRead,
  audio,
}: TokenPrices) {
  return {
    input_price_per_1m: usdPerMillionFromPicos(input),
    output_price_per_1m: usdPerMillionFromPicos(output),
    cache_write_price_per_1m: usdPerMillionFromPicos(cacheWrite),
    cache_write_1h_price_per_1m: usdPerMillionFromPicos(cacheWrite1h),
    cache_read_price_per_1m: usdPerMillionFromPicos(cacheRead),
    ...(audio !== undefined && { audio_price_per_1m: usdPerMillionFromPicos(audio) }),
  };
}

function searchPricesOf(
  model: Model,
  view: InfoView,
): Readonly<Partial<Record<SearchToolName, number>>> {
  const sold = searchToolNames.map(
    (tool) => [tool, highestSearchPicos({ ...view, model, tool })] as const,
  );
  return Object.fromEntries(
    sold.flatMap(([tool, picos]) => (picos === null ? [] : [[tool, usdFromPicos(picos)]])),
  );
}
