// The responses of GET /v1/models, /v1/models/{id} and /v1/models/info: the models that a caller
// may see, with prices.
import type { ImageModel } from '../../terms/image-model.ts';
import { hasEnded } from '../../terms/retirement.ts';
import type { ModelType } from '../../terms/model-type.ts';
import type { Mode } from '../../terms/mode.ts';
import { searchModelId } from '../../terms/web-search.ts';
import { usdFromPicos } from '../../lib/money.ts';
import type { Catalog } from './catalog.ts';
import { imageInfoEntry, type ImageInfoEntry } from './image-listing.ts';
import type { Model } from './model.ts';
import { isoTime, modelInfoEntry, type ModelInfoEntry } from './model-info.ts';
import { priceAt, type PriceFactor } from './price.ts';
import type { SearchPrice, SearchProviders } from './search-price.ts';

/** Determines which models a caller may see. Without a key: mode `live` and no model list. */
type Visibility = {
  readonly mode: Mode;
  /** The catalogue ids that the key is restricted to; null means all. */
  readonly models: ReadonlySet<string> | null;
  readonly nowMs: number;
};

/** The caller. Without a key, its multiplier is that of the list price. */
export type Viewer = Visibility & {
  readonly markup: number;
  /** Returns what the caller pays for a model, in millionths of the list price. */
  readonly multiplierPpmOf: (modelId: string) => number;
};

/** A chat model is of type `model`, as at Anthropic. */
export type ListedType = Exclude<ModelType, 'chat'> | 'model' | 'image';

export function listedType(type: ModelType): ListedType {
  return type === 'chat' ? 'model' : type;
}

type ModelListEntry = ReturnType<typeof listEntry>;

export type ModelList = ReturnType<typeof listModels>;

export type ModelInfoList = {
  readonly data: readonly (ModelInfoEntry | ImageInfoEntry)[];
  /** The web-search endpoint; null when it is not sold to the caller. */
  readonly web_search: SearchEntry | null;
};

/** USD, the highest over all providers: for the default number of results, and for any search. */
type SearchEntry = {
  readonly id: string;
  readonly price_per_search: number;
  readonly price_per_search_max: number;
};

/** Prices other than those of tokens and images. */
export type Charging = {
  readonly providers: SearchProviders;
  /**
   * The highest price of the endpoint for the default number of results, and for any search; null
   * when it is not sold.
   */
  readonly searchPrices: (
    factor: PriceFactor,
    mode: Visibility['mode'],
  ) => { readonly usual: SearchPrice | null; readonly most: SearchPrice | null };
  readonly isSearchLive: boolean;
};

/**
 * Returns everything that the caller may see on one page: chat models and their aliases, then image
 * models.
 */
export function listModels(catalog: Catalog, viewer: Visibility) {
  const data = [...visibleModels(catalog, viewer), ...visibleModels(catalog.images, viewer)].map(
    ({ id, model }) => listEntry(id, model, viewer),
  );
  return {
    object: 'list',
    data,
    has_more: false,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

/**
 * Returns one model by any of its names; null when the caller may not see one. An alias keeps its
 * own id, as in the list.
 */
export function modelEntry(
  catalog: Catalog,
  viewer: Visibility,
  name: string,
): ModelListEntry | null {
  const isChat = catalog.resolve(name) !== null;
  return isChat ? entryIn(catalog, viewer, name) : entryIn(catalog.images, viewer, name);
}

function entryIn<M extends Model | ImageModel>(
  kind: Kind<M> & { readonly resolve: (name: string) => M | null },
  viewer: Visibility,
  name: string,
): ModelListEntry | null {
  const model = kind.resolve(name);
  if (!model || !isVisible(kind, viewer, model)) return null;
  return listEntry(kind.aliases.get(name) === model ? name : model.id, model, viewer);
}

/** Returns all prices as the caller pays them. */
export function listModelInfo(catalog: Catalog, viewer: Viewer, charging: Charging): ModelInfoList {
  const { mode, markup, multiplierPpmOf, nowMs } = viewer;
  const factorOf = ({ id }: { readonly id: string }) => ({
    markup,
    multiplierPpm: multiplierPpmOf(id),
  });
  const chat = visibleModels(catalog, viewer).map(({ id, model }) => {
    // The sandbox replaces every provider of a model.
    const routes = mode === 'test' ? model.routes : catalog.liveRoutes(model);
    return modelInfoEntry(id, model, {
      ...factorOf(model),
      nowMs,
      routes,
      providers: charging.providers,
    });
  });
  const images = visibleModels(catalog.images, viewer).map(({ id, model }) =>
    imageInfoEntry(id, model, factorOf(model)),
  );
  return { data: [...chat, ...images], web_search: searchEntry(viewer, charging) };
}

function searchEntry(
  { mode, markup, multiplierPpmOf }: Viewer,
  { searchPrices, isSearchLive }: Charging,
): SearchEntry | null {
  const isVisibleHere = mode === 'test' || isSearchLive;
  const { usual, most } = searchPrices(
    { markup, multiplierPpm: multiplierPpmOf(searchModelId) },
    mode,
  );
  if (!usual || !most || !isVisibleHere) return null;
  return {
    id: searchModelId,
    price_per_search: usdFromPicos(usual.listPicos),
    price_per_search_max: usdFromPicos(most.listPicos),
  };
}

type Kind<M> = {
  readonly list: () => readonly M[];
  readonly aliases: ReadonlyMap<string, M>;
  readonly liveRoutes: (model: M) => readonly unknown[];
};

/** Returns the names of visible models: ids in the order of the catalogue, then the aliases. */
function visibleModels<M extends Model | ImageModel>(kind: Kind<M>, viewer: Visibility) {
  const models = kind.list().map((model) => ({ id: model.id, model }));
  const aliases = [...kind.aliases].map(([id, model]) => ({ id, model }));
  return [...models, ...aliases].filter(({ model }) => isVisible(kind, viewer, model));
}

/**
 * A model is visible if it could run: it has a current price and, except for test keys (answered by
 * the sandbox), an enabled provider.
 */
function isVisible<M extends Model | ImageModel>(kind: Kind<M>, viewer: Visibility, model: M) {
  if (viewer.models && !viewer.models.has(model.id)) return false;
  const price = 'prices' in model ? priceAt(model, viewer.nowMs) : model.price;
  return Boolean(price) && (viewer.mode === 'test' || kind.liveRoutes(model).length > 0);
}

function listEntry(id: string, model: Model | ImageModel, { nowMs }: Visibility) {
  const type: ListedType = 'type' in model ? listedType(model.type) : 'image';
  const { deprecatedAtMs, retiresAtMs, successor } = model.retirement ?? {};
  return {
    id,
    object: 'model',
    created: model.createdAtSeconds,
    owned_by: model.ownedBy,
    // Anthropic's SDK reads the following, and Claude Code compacts by the limits.
    type,
    display_name: model.displayName,
    created_at: isoTime(model.createdAtSeconds * 1_000),
    ...('maxInputTokens' in model &&
      type === 'model' && {
        max_input_tokens: model.maxInputTokens,
        max_tokens: model.maxOutputTokens,
      }),
    ...(typeof deprecatedAtMs === 'number' && { deprecated_at: isoTime(deprecatedAtMs) }),
    ...(typeof retiresAtMs === 'number' && { retires_at: isoTime(retiresAtMs) }),
    ...(typeof successor === 'string' && { successor }),
    ...(hasEnded(model.retirement, nowMs) && { ended: true }),
  };
}
