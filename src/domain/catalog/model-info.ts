// A chat model in GET /v1/models/info: its limits, capabilities and prices.
import { searchToolNames, type SearchToolName } from '../../terms/web-search.ts';
import type { ServiceTier } from '../../canonical/service-tier.ts';
import { usdFromPicos, usdPerMillionFromPicos } from '../../lib/money.ts';
import type { Model, PriceSet, PriceVersion, Route, TokenPrices } from './model.ts';
import { listPrices, priceFor, type PriceFactor } from './price.ts';
import { highestSearchPicos, type SearchProviders } from './search-price.ts';

/** USD per million tokens. */
type InfoPrices = {
  readonly input_price_per_1m: number;
  readonly output_price_per_1m: number;
  readonly cache_write_price_per_1m: number;
  readonly cache_write_1h_price_per_1m: number;
  readonly cache_read_price_per_1m: number;
};

type TieredPrices = InfoPrices & {
  /**
   * Ordered by threshold. The last tier whose threshold the input exceeds prices the whole request.
   */
  readonly price_tiers: readonly ({ readonly above_input_tokens: number } & InfoPrices)[];
};

type AllPrices = TieredPrices & {
  /** Of a service tier, or of the standard tier at some hours: `Mon-Fri 01:00-04:00`. */
  readonly price_variants: readonly (TieredPrices & {
    readonly service_tier: ServiceTier | null;
    readonly hours_utc: string | null;
  })[];
};

export type ModelInfoEntry = {
  readonly id: string;
  readonly display_name: string;
  /** Input and output combined. */
  readonly context_window: number;
  /** The context window, too: some clients budget with it. */
  readonly max_input_tokens: number;
  readonly max_prompt_tokens: number;
  readonly max_output_tokens: number;
  readonly supports_thinking: boolean;
  readonly supports_streaming: boolean;
  readonly supports_vision: boolean;
} & AllPrices & {
    /** Future prices, the next one first. `effective_from` is ISO 8601. */
    readonly scheduled_prices: readonly ({ readonly effective_from: string } & AllPrices)[];
    /**
     * The highest price in USD of a search that the model's provider runs; tools that are not sold
     * are absent.
     */
    readonly search_prices: Readonly<Partial<Record<SearchToolName, number>>>;
  };

type InfoView = PriceFactor & {
  readonly nowMs: number;
  /** The routes that may serve the caller. */
  readonly routes: readonly Route[];
  readonly providers: SearchProviders;
};

/** Returns the entry of a model. It must have a current price. */
export function modelInfoEntry(id: string, model: Model, view: InfoView): ModelInfoEntry {
  const later = model.prices
    .filter(({ effectiveFromMs }) => effectiveFromMs > view.nowMs)
    .toReversed();
  return {
    id,
    display_name: model.displayName,
    context_window: model.contextTokens,
    max_input_tokens: model.contextTokens,
    max_prompt_tokens: model.maxInputTokens,
    max_output_tokens: model.maxOutputTokens,
    supports_thinking: model.supports.thinking,
    supports_streaming: model.supports.streaming,
    supports_vision: model.supports.vision,
    ...allPricesOf(priceFor(model, view)!.list),
    scheduled_prices: later.map((version) => ({
      effective_from: new Date(version.effectiveFromMs).toISOString().replace('.000Z', 'Z'),
      ...allPricesOf(listPrices(version, view)),
    })),
    search_prices: searchPricesOf(model, view),
  };
}

function allPricesOf(version: PriceVersion): AllPrices {
  return {
    ...tieredPricesOf(version),
    price_variants: version.variants.map((variant) => ({
      service_tier: variant.tier,
      hours_utc: variant.hours?.text ?? null,
      ...tieredPricesOf(variant),
    })),
  };
}

function tieredPricesOf({ base, tiers }: PriceSet): TieredPrices {
  return {
    ...pricesPerMillion(base),
    price_tiers: tiers.map(({ aboveInputTokens, prices }) => ({
      above_input_tokens: aboveInputTokens,
      ...pricesPerMillion(prices),
    })),
  };
}

function pricesPerMillion({
  input,
  output,
  cacheWrite,
  cacheWrite1h,
  cacheRead,
}: TokenPrices): InfoPrices {
  return {
    input_price_per_1m: usdPerMillionFromPicos(input),
    output_price_per_1m: usdPerMillionFromPicos(output),
    cache_write_price_per_1m: usdPerMillionFromPicos(cacheWrite),
    cache_write_1h_price_per_1m: usdPerMillionFromPicos(cacheWrite1h),
    cache_read_price_per_1m: usdPerMillionFromPicos(cacheRead),
  };
}

function searchPricesOf(model: Model, view: InfoView): ModelInfoEntry['search_prices'] {
  const sold = searchToolNames.map(
    (tool) => [tool, highestSearchPicos({ ...view, model, tool })] as const,
  );
  return Object.fromEntries(
    sold.flatMap(([tool, picos]) => (picos === null ? [] : [[tool, usdFromPicos(picos)]])),
  );
}
