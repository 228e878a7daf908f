// The catalogue as the dashboard shows it: every model with what an account pays for it, now and later. Pure.
import type { ImageModel, ImageTier } from '../../canonical/image-model.ts';
import { searchModelId } from '../../canonical/web-search.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { Model, PriceVersion, TokenPrices } from '../../catalog/model.ts';
import { listPrices, priceAt, scaleByFactor, type PriceFactor } from '../../catalog/price.ts';
import { endpointSearchPicos, searchPriceFor } from '../../catalog/search-price.ts';
import type { Config } from '../../config/schema.ts';
import type * as Contract from '../../dashboard-contract/models.ts';
import type { Picos } from '../../lib/money.ts';

export type CatalogueView = {
  readonly catalog: Catalog;
  readonly config: Pick<Config, 'pricing' | 'providers' | 'search'>;
  /** What the account pays for a model, in millionths of the list price. */
  readonly multiplierPpmOf: (modelId: string) => number;
  readonly isSearchLive: boolean;
  readonly nowMs: number;
};

export function describeCatalogue(view: CatalogueView): Contract.ModelCatalogue {
  const { catalog, config, multiplierPpmOf, isSearchLive } = view;
  const { price_usd: searchUsd } = config.search;
  return {
    chat: catalog.list().map((model) => describeChatModel(view, model)),
    images: catalog.images.list().map((model) => describeImageModel(view, model)),
    web_search: {
      id: searchModelId,
      price_micros: searchUsd === null ? null : microsOf(endpointSearchPicos(searchUsd, multiplierPpmOf(searchModelId))),
      is_live: isSearchLive && searchUsd !== null,
    },
  };
}

function describeChatModel(view: CatalogueView, model: Model): Contract.ChatModel {
  const { catalog, nowMs } = view;
  const factor = factorOf(view, model.id);
  const price = priceAt(model, nowMs);
  const later = model.prices.filter(({ effectiveFromMs }) => effectiveFromMs > nowMs).toReversed();
  return {
    ...listed(view, model, catalog),
    context_tokens: model.contextTokens,
    max_input_tokens: model.maxInputTokens,
    max_output_tokens: model.maxOutputTokens,
    abilities: model.supports,
    price: price && describePrice(price, factor),
    scheduled_prices: later.map((version) => describePrice(version, factor)),
    web_search_micros: searchMicrosOf(view, model, factor),
  };
}

function describePrice(version: PriceVersion, factor: PriceFactor): Contract.ModelPrice {
  const { base, tiers } = listPrices(version, factor);
  return {
    effective_at: version.effectiveFromMs === 0 ? null : new Date(version.effectiveFromMs).toISOString(),
    base: describeTokenPrices(base),
    tiers: tiers.map(({ aboveInputTokens, prices }) => ({
      above_input_tokens: aboveInputTokens,
      prices: describeTokenPrices(prices),
    })),
  };
}

/** A picodollar a token is a microdollar for a million of them. */
function describeTokenPrices({ input, output, cacheRead, cacheWrite, cacheWrite1h }: TokenPrices): Contract.TokenPrices {
  return {
    input_micros: input,
    output_micros: output,
    cache_read_micros: cacheRead,
    cache_write_micros: cacheWrite,
    cache_write_1h_micros: cacheWrite1h,
  };
}

/** Of the first provider that serves it and runs searches. */
function searchMicrosOf({ catalog, config }: CatalogueView, model: Model, factor: PriceFactor): number | null {
  for (const { provider: name } of catalog.liveRoutes(model)) {
    const price = searchPriceFor({ ...factor, model, provider: config.providers[name]!, tool: 'web_search' });
    if (price) return microsOf(price.listPicos);
  }
  return null;
}

function describeImageModel(view: CatalogueView, model: ImageModel): Contract.ImageModelEntry {
  const { mode, family, inputImages, countMax, promptCharactersMax, parameters } = model;
  return {
    ...listed(view, model, view.catalog.images),
    mode,
    family,
    input_images: inputImages,
    images_max: countMax,
    prompt_characters_max: promptCharactersMax,
    output_formats: parameters.outputFormats,
    parameters: describeParameters(parameters),
    price: describeImagePrices(model, factorOf(view, model.id)),
  };
}

function describeParameters(parameters: ImageModel['parameters']): Contract.ImageParameters {
  if (parameters.kind === 'shape')
    return { kind: 'shape', aspect_ratio: parameters.aspectRatio, resolution: parameters.resolution };
  const { default: size, multipleOf, sideMin, sideMax, pixelsMax, aspectMax } = parameters.size;
  return {
    kind: 'size',
    default_size: `${size.width}x${size.height}`,
    sizes: { multiple_of: multipleOf, side_min: sideMin, side_max: sideMax, pixels_max: pixelsMax, aspect_max: aspectMax },
    quality: parameters.quality,
  };
}

function describeImagePrices({ price, inputImages }: ImageModel, factor: PriceFactor): Contract.ImagePrices | null {
  if (!price) return null;
  const scaled = (prices: Readonly<Partial<Record<ImageTier, Picos>>>) =>
    Object.fromEntries(Object.entries(prices).map(([tier, picos]) => [tier, microsOf(scaleByFactor(picos, factor, price))]));
  return {
    per_megapixel: price.perMegapixel,
    output_micros: scaled(price.output),
    input_image_micros: inputImages.max > 0 ? scaled(price.input) : {},
  };
}

type Kind<M> = { readonly aliases: ReadonlyMap<string, M>; readonly liveRoutes: (model: M) => readonly unknown[] };

function listed<M extends Model | ImageModel>({ multiplierPpmOf }: CatalogueView, model: M, kind: Kind<M>) {
  return {
    id: model.id,
    name: model.displayName,
    vendor: model.ownedBy,
    created_at: new Date(model.createdAtSeconds * 1_000).toISOString(),
    aliases: [...kind.aliases].flatMap(([alias, meant]) => (meant === model ? [alias] : [])),
    is_live: kind.liveRoutes(model).length > 0,
    multiplier_ppm: multiplierPpmOf(model.id),
  };
}

function factorOf({ config, multiplierPpmOf }: CatalogueView, modelId: string): PriceFactor {
  return { markup: config.pricing.markup, multiplierPpm: multiplierPpmOf(modelId) };
}

/** For show: as near as a number can be. */
function microsOf(picos: Picos): number {
  return Number(picos) / 1_000_000;
}
