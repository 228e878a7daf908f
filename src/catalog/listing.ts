// The bodies of GET /v1/models, /v1/models/{id} and /v1/models/info: which models a caller may see, and at what price.
import type { ImageModel } from '../canonical/image-model.ts';
import { usdPerMillionFromPicos, type PicosPerToken } from '../lib/money.ts';
import type { Catalog } from './catalog.ts';
import { imageInfoEntry, type ImageInfoEntry } from './image-listing.ts';
import type { Model } from './model.ts';
import { priceAt, priceFor } from './price.ts';

/** Who asks. Without a key: mode `live`, no list, the multiplier of a list price. */
export type Viewer = {
  readonly mode: 'live' | 'test';
  /** The catalogue ids that the key is restricted to; null: all. */
  readonly models: ReadonlySet<string> | null;
  readonly markup: number;
  /** What it pays for a model, in millionths of the list price. */
  readonly multiplierPpmOf: (modelId: string) => number;
  readonly nowMs: number;
};

export type ModelListEntry = {
  readonly id: string;
  readonly object: 'model';
  /** Unix seconds. */
  readonly created: number;
  readonly owned_by: string;
  // Anthropic's SDK reads these three.
  readonly type: 'model' | 'image';
  readonly display_name: string;
  /** ISO 8601. */
  readonly created_at: string;
};

export type ModelList = {
  readonly object: 'list';
  readonly data: readonly ModelListEntry[];
  readonly has_more: false;
  readonly first_id: string | null;
  readonly last_id: string | null;
};

export type ModelInfoEntry = {
  readonly id: string;
  readonly display_name: string;
  readonly max_input_tokens: number;
  readonly max_output_tokens: number;
  readonly supports_thinking: boolean;
  readonly supports_streaming: boolean;
  readonly supports_vision: boolean;
  readonly input_price_per_1m: number;
  readonly output_price_per_1m: number;
  readonly cache_write_price_per_1m: number;
  readonly cache_read_price_per_1m: number;
};

/** Everything the caller may see, on one page: chat models and their aliases, then what makes images. */
export function listModels(catalog: Catalog, viewer: Viewer): ModelList {
  const data = [
    ...visibleModels(catalog, viewer).map(({ id, model }) => listEntry(id, model, 'model')),
    ...visibleImageModels(catalog, viewer).map(({ id, model }) => listEntry(id, model, 'image')),
  ];
  return { object: 'list', data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}

/** One model by any of its names; null when there is none that the caller may see. An alias keeps its own id, as in the list. */
export function modelEntry(catalog: Catalog, viewer: Viewer, name: string): ModelListEntry | null {
  const model = catalog.resolve(name);
  if (!model) return imageModelEntry(catalog, viewer, name);
  if (!isVisible(catalog, viewer, model)) return null;
  return listEntry(catalog.aliases.get(name) === model ? name : model.id, model, 'model');
}

function imageModelEntry({ images }: Catalog, viewer: Viewer, name: string): ModelListEntry | null {
  const model = images.resolve(name);
  if (!model || !isVisibleImageModel(images, viewer, model)) return null;
  return listEntry(images.aliases.get(name) === model ? name : model.id, model, 'image');
}

/** Prices are the caller's own, now, of an input that reaches no tier. */
export function listModelInfo(catalog: Catalog, viewer: Viewer): { readonly data: readonly (ModelInfoEntry | ImageInfoEntry)[] } {
  return {
    data: [
      ...visibleModels(catalog, viewer).map(({ id, model }) => infoEntry(id, model, viewer)),
      ...visibleImageModels(catalog, viewer).map(({ id, model }) => {
        const { markup, multiplierPpmOf } = viewer;
        return imageInfoEntry(id, model, { markup, multiplierPpm: multiplierPpmOf(model.id) });
      }),
    ],
  };
}

/** A listed name: a model under its id, or again under an alias. */
type VisibleModel = { readonly id: string; readonly model: Model };

/** The models in the catalogue's order, then the aliases. */
function visibleModels(catalog: Catalog, viewer: Viewer): readonly VisibleModel[] {
  const models = catalog.list().map((model) => ({ id: model.id, model }));
  const aliases = [...catalog.aliases].map(([id, model]) => ({ id, model }));
  return [...models, ...aliases].filter(({ model }) => isVisible(catalog, viewer, model));
}

/** What could run: it has a price now, and for all but test keys, which the sandbox answers, a provider that is switched on. */
function isVisible(catalog: Catalog, viewer: Viewer, model: Model): boolean {
  if (viewer.models && !viewer.models.has(model.id)) return false;
  if (!priceAt(model, viewer.nowMs)) return false;
  return viewer.mode === 'test' || catalog.liveRoutes(model).length > 0;
}

function visibleImageModels({ images }: Catalog, viewer: Viewer): readonly { readonly id: string; readonly model: ImageModel }[] {
  const models = images.list().map((model) => ({ id: model.id, model }));
  const aliases = [...images.aliases].map(([id, model]) => ({ id, model }));
  return [...models, ...aliases].filter(({ model }) => isVisibleImageModel(images, viewer, model));
}

function isVisibleImageModel(images: Catalog['images'], viewer: Viewer, model: ImageModel): boolean {
  if (viewer.models && !viewer.models.has(model.id)) return false;
  return model.price !== null && (viewer.mode === 'test' || images.liveRoutes(model).length > 0);
}

function listEntry(id: string, model: Model | ImageModel, type: ModelListEntry['type']): ModelListEntry {
  return {
    id,
    object: 'model',
    created: model.createdAtSeconds,
    owned_by: model.ownedBy,
    type,
    display_name: model.displayName,
    created_at: new Date(model.createdAtSeconds * 1_000).toISOString().replace('.000Z', 'Z'),
  };
}

function infoEntry(id: string, model: Model, viewer: Viewer): ModelInfoEntry {
  const { nowMs, markup, multiplierPpmOf } = viewer;
  const prices = priceFor(model, { nowMs, markup, multiplierPpm: multiplierPpmOf(model.id) })!.list.base;
  return {
    id,
    display_name: model.displayName,
    max_input_tokens: model.maxInputTokens,
    max_output_tokens: model.maxOutputTokens,
    supports_thinking: model.supports.thinking,
    supports_streaming: model.supports.streaming,
    supports_vision: model.supports.vision,
    ...pricesPerMillion(prices),
  };
}

function pricesPerMillion(prices: Record<'input' | 'output' | 'cacheWrite' | 'cacheRead', PicosPerToken>) {
  return {
    input_price_per_1m: usdPerMillionFromPicos(prices.input),
    output_price_per_1m: usdPerMillionFromPicos(prices.output),
    cache_write_price_per_1m: usdPerMillionFromPicos(prices.cacheWrite),
    cache_read_price_per_1m: usdPerMillionFromPicos(prices.cacheRead),
  };
}
