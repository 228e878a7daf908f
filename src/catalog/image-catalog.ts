// The models that make images, and what each name that a client sends means: the same rules as for chat models.
import type { ImageModel, ImageRoute } from '../canonical/image-model.ts';
import { resolveVariant } from './names.ts';

export type ImageCatalog = {
  /** The model that a client's name means: its id, an alias, `vendor/id`, or the id with a date or `-latest`; null when none. */
  readonly resolve: (name: string) => ImageModel | null;
  /** The routes whose provider is switched on, in order. */
  readonly liveRoutes: (model: ImageModel) => readonly ImageRoute[];
  /** Every model, whether it can run or not: the built-in ones first, in their order. */
  readonly list: () => readonly ImageModel[];
  readonly aliases: ReadonlyMap<string, ImageModel>;
};

export type ImageCatalogParts = {
  readonly models: readonly ImageModel[];
  readonly aliases: ReadonlyMap<string, ImageModel>;
  /** The names of the providers that are switched on. */
  readonly liveProviders: ReadonlySet<string>;
};

export function createImageCatalog({ models, aliases, liveProviders }: ImageCatalogParts): ImageCatalog {
  const byId = new Map(models.map((model) => [model.id, model]));
  const liveRoutes = new Map(models.map((model) => [model, model.routes.filter(({ provider }) => liveProviders.has(provider))]));
  return {
    resolve: (name) => byId.get(name) ?? aliases.get(name) ?? resolveVariant(byId, name),
    liveRoutes: (model) => liveRoutes.get(model) ?? [],
    list: () => models,
    aliases,
  };
}

export const noImageModels: ImageCatalog = createImageCatalog({ models: [], aliases: new Map(), liveProviders: new Set() });
