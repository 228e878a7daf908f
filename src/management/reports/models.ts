// The catalogue for the dashboard: every model with an account's current and future prices.
import { errorKinds, type ErrorCode } from '../../canonical/errors.ts';
import { readModelLatencies, sumActivity } from '../../domain/activity/queries.ts';
import { readTerms } from '../../domain/accounts/manage-accounts.ts';
import type { ImageModel } from '../../terms/image-model.ts';
import type { Mode } from '../../terms/mode.ts';
import { searchModelId } from '../../terms/web-search.ts';
import type { Catalog } from '../../domain/catalog/catalog.ts';
import { readBuiltInCatalog } from '../../domain/catalog/load-catalog.ts';
import { readBuiltInImageCatalog } from '../../domain/catalog/load-image-catalog.ts';
import type { Model, PriceSet, PriceVersion, TokenPrices } from '../../domain/catalog/model.ts';
import { listPricePpm, listPrices, priceAt, type PriceFactor } from '../../domain/catalog/price.ts';
import { highestSearchPicos } from '../../domain/catalog/search-price.ts';
import { ledgerIdOf } from '../../domain/ledger/commands.ts';
import { dayMs, dayOf } from '../../lib/utc-time.ts';
import { sumRange } from '../../domain/ledger/reports/daily-sums.ts';
import type { Config } from '../../config/schema.ts';
import { shownSearchPrices } from '../../gateway/search/search-prices.ts';
import type * as Contract from '../contract/models.ts';
import type { Picos } from '../../lib/money.ts';
import { requireAccount } from '../changes/accounts.ts';
import type { ManagementContext } from '../context.ts';
import type { Handlers } from '../handlers.ts';
import { imagePricesOf } from '../../domain/catalog/image-listing.ts';
import { isoTimeOf } from '../../lib/iso-time.ts';
import { showLatency } from './analytics-sums.ts';

export const modelsHandlers: Handlers<typeof Contract.modelsEndpoints> = {
  'GET /accounts/:account/models': async ({ context, params }) =>
    describeCatalogue(await viewFor(context, params.account)),

  'GET /admin/v1/models': async ({ context, query }) => {
    if (query.account !== undefined) await requireAccount(context.database.read, query.account);
    const { chat, images, others } = describeCatalogue(await viewFor(context, query.account));
    return [
      ...chat.map((model) => ({ type: 'chat' as const, ...model })),
      ...images.map((model) => ({ type: 'image' as const, ...model })),
      ...others,
    ];
  },

  'GET /accounts/:account/models/measured': async ({ context, params, query: { mode } }) => ({
    days: daysMeasured,
    data: await measureModels(context, params.account, mode),
  }),
};

/** `accountId`: at whose prices; without it, at list prices. */
async function viewFor(
  { database, gateway }: ManagementContext,
  accountId: string | undefined,
): Promise<CatalogueView> {
  const { config, clock, hosts } = gateway;
  const terms = accountId === undefined ? null : await readTerms(database.read, accountId);
  const multipliers = new Map(Object.entries(terms?.model_multipliers_ppm ?? {}));
  const usualPpm = terms?.price_multiplier_ppm ?? listPricePpm;
  return {
    catalog: hosts.catalog,
    config,
    multiplierPpmOf: (modelId) => multipliers.get(modelId) ?? usualPpm,
    isSearchLive: hosts.searchers.live !== null,
    nowMs: clock.nowMs(),
  };
}

const daysMeasured = 30;
const modelsMax = 1_000;

async function measureModels(
  { database, gateway }: ManagementContext,
  accountId: string,
  mode: Mode,
): Promise<readonly Contract.MeasuredModel[]> {
  const nowMs = gateway.clock.nowMs();
  const range = { fromDay: dayOf(nowMs - (daysMeasured - 1) * dayMs), toDay: dayOf(nowMs) };
  const query = { of: { ledgerId: ledgerIdOf(accountId, mode) }, ...range, by: 'model' } as const;
  const [charged, uncharged] = await Promise.all([
    sumRange(database.read, query, { top: modelsMax }),
    sumActivity(database.read, { accountId, mode, ...range, by: 'model' }),
  ]);
  const latencies = await readModelLatencies(
    database.read,
    { accountId, mode, ...range },
    charged.map(({ group }) => group),
  );
  const sums = new Map(charged.map((sum) => [sum.group, sum]));
  const failures = new Map<string, number>();
  for (const { group, outcome, requests } of uncharged)
    if (isOutage(outcome)) failures.set(group, (failures.get(group) ?? 0) + requests);
  const ids = new Set([...sums.keys(), ...failures.keys()]);
  ids.delete('');
  return [...ids].toSorted().map((id) => {
    const { requests = 0, outputTokens = 0 } = sums.get(id) ?? {};
    const { first = null, whole = null, meanWholeMs = null } = latencies.get(id) ?? {};
    const isMeasured = meanWholeMs !== null && meanWholeMs > 0 && outputTokens > 0;
    return {
      id,
      answered: requests,
      failed: failures.get(id) ?? 0,
      first_token: showLatency(first),
      whole: showLatency(whole),
      tokens_per_second: isMeasured ? outputTokens / requests / (meanWholeMs / 1_000) : null,
    };
  });
}

/** Errors of the client say nothing about the model. */
function isOutage(outcome: string): boolean {
  return Object.hasOwn(errorKinds, outcome) && errorKinds[outcome as ErrorCode].status >= 500;
}

export type CatalogueView = {
  readonly catalog: Catalog;
  readonly config: Pick<Config, 'pricing' | 'providers' | 'search'>;
  /** The account's price factor for a model, in millionths of the list price. */
  readonly multiplierPpmOf: (modelId: string) => number;
  readonly isSearchLive: boolean;
  readonly nowMs: number;
};

export function describeCatalogue(view: CatalogueView): Contract.ModelCatalogue {
  const { catalog, config, isSearchLive } = view;
  const { usual, most } = shownSearchPrices(config, factorOf(view, searchModelId));
  const models = catalog.list();
  return {
    as_of: { chat: readBuiltInCatalog().as_of, images: readBuiltInImageCatalog().as_of },
    chat: models.flatMap((model) =>
      model.type === 'chat' ? [describeChatModel(view, model)] : [],
    ),
    images: catalog.images.list().map((model) => describeImageModel(view, model)),
    others: models.flatMap((model) => describeOtherModel(view, model) ?? []),
    web_search: {
      id: searchModelId,
      price_micros: usual && microsOf(usual.listPicos),
      price_max_micros: most && microsOf(most.listPicos),
      is_live: isSearchLive && most !== null,
    },
  };
}

function describeChatModel(view: CatalogueView, model: Model): Contract.ChatModel {
  return {
    ...listed(view, model, view.catalog),
    context_tokens: model.contextTokens,
    max_input_tokens: model.maxInputTokens,
    max_output_tokens: model.maxOutputTokens,
    abilities: model.supports,
    ...describePrices(view, model),
    web_search_micros: searchMicrosOf(view, model, factorOf(view, model.id)),
  };
}

/** Returns null for a chat model. */
function describeOtherModel(view: CatalogueView, model: Model): Contract.OtherModel | null {
  const { type, maxInputTokens, dimensions } = model;
  if (type === 'chat') return null;
  return {
    ...listed(view, model, view.catalog),
    type,
    max_input_tokens: maxInputTokens,
    dimensions,
    ...describePrices(view, model),
  };
}

function describePrices(view: CatalogueView, model: Model) {
  const { nowMs } = view;
  const factor = factorOf(view, model.id);
  const price = priceAt(model, nowMs);
  const later = model.prices.filter(({ effectiveFromMs }) => effectiveFromMs > nowMs).toReversed();
  return {
    price: price && describePrice(price, factor),
    scheduled_prices: later.map((version) => describePrice(version, factor)),
  };
}

function describePrice(version: PriceVersion, factor: PriceFactor): Contract.ModelPrice {
  const applied = listPrices(version, factor);
  return {
    effective_at:
      version.effectiveFromMs === 0 ? null : new Date(version.effectiveFromMs).toISOString(),
    ...describePriceSet(applied),
    ...(applied.unit !== undefined && { unit_micros: microsOf(applied.unit) }),
    variants: applied.variants.map((variant) => ({
      service_tier: variant.tier,
      hours_utc: variant.hours?.text ?? null,
      ...describePriceSet(variant),
    })),
  };
}

function describePriceSet({ base, tiers }: PriceSet): Contract.PriceSet {
  return {
    base: describeTokenPrices(base),
    tiers: tiers.map(({ aboveInputTokens, prices }) => ({
      above_input_tokens: aboveInputTokens,
      prices: describeTokenPrices(prices),
    })),
  };
}

/** Picodollars per token equal microdollars per million tokens. */
export function describeTokenPrices({
  input,
  output,
  cacheRead,
  cacheWrite,
  cacheWrite1h,
  audio,
}: TokenPrices): Contract.TokenPrices {
  return {
    input_micros: input,
    output_micros: output,
    cache_read_micros: cacheRead,
    cache_write_micros: cacheWrite,
    cache_write_1h_micros: cacheWrite1h,
    ...(audio !== undefined && { audio_micros: audio }),
  };
}

/** The highest price of a search among the model's providers. */
function searchMicrosOf(
  { catalog, config }: CatalogueView,
  model: Model,
  factor: PriceFactor,
): number | null {
  const routes = catalog.liveRoutes(model);
  const picos = highestSearchPicos({
    ...factor,
    model,
    routes,
    providers: config.providers,
    tool: 'web_search',
  });
  return picos === null ? null : microsOf(picos);
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
    return {
      kind: 'shape',
      aspect_ratio: parameters.aspectRatio,
      resolution: parameters.resolution,
    };
  const { default: size, multipleOf, sideMin, sideMax, pixelsMax, aspectMax } = parameters.size;
  return {
    kind: 'size',
    default_size: `${size.width}x${size.height}`,
    sizes: {
      multiple_of: multipleOf,
      side_min: sideMin,
      side_max: sideMax,
      pixels_max: pixelsMax,
      aspect_max: aspectMax,
    },
    quality: parameters.quality,
  };
}

function describeImagePrices(model: ImageModel, factor: PriceFactor): Contract.ImagePrices | null {
  const prices = imagePricesOf(model, factor, microsOf);
  if (!prices) return null;
  const { tokens } = prices;
  return {
    per_megapixel: prices.per_megapixel,
    output_micros: prices.output,
    further_megapixel_micros: prices.further_megapixel,
    input_image_micros: prices.input_image,
    input_per_megapixel: prices.input_per_megapixel,
    tokens: tokens && {
      text_micros: tokens.text,
      cached_text_micros: tokens.cached_text,
      image_micros: tokens.image,
      cached_image_micros: tokens.cached_image,
      output_micros: tokens.output,
    },
  };
}

type Kind<M> = {
  readonly aliases: ReadonlyMap<string, M>;
  readonly liveRoutes: (model: M) => readonly unknown[];
};

function listed<M extends Model | ImageModel>(
  { multiplierPpmOf }: CatalogueView,
  model: M,
  kind: Kind<M>,
) {
  return {
    id: model.id,
    name: model.displayName,
    vendor: model.ownedBy,
    created_at: new Date(model.createdAtSeconds * 1_000).toISOString(),
    aliases: [...kind.aliases].flatMap(([alias, meant]) => (meant === model ? [alias] : [])),
    is_live: kind.liveRoutes(model).length > 0,
    ...endOf(model),
    multiplier_ppm: multiplierPpmOf(model.id),
  };
}

export function endOf({ retirement }: Model | ImageModel) {
  const { retiresAtMs = null, successor = null } = retirement ?? {};
  return { retires_at: isoTimeOf(retiresAtMs), successor };
}

function factorOf({ config, multiplierPpmOf }: CatalogueView, modelId: string): PriceFactor {
  return { markup: config.pricing.markup, multiplierPpm: multiplierPpmOf(modelId) };
}

/** Converts to microdollars for display only: a number rounds large prices. */
export function microsOf(picos: Picos): number {
  return Number(picos) / 1_000_000;
}
