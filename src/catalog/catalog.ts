// The models this gateway knows, and what each name that a client sends means. Made once at the start and never changed.
import { noImageModels, type ImageCatalog } from './image-catalog.ts';
import type { Model, Route } from './model.ts';
import { resolveVariant } from './names.ts';

export type Catalog = {
  /** The model that a client's name means: its id, an alias, `vendor/id`, or the id with a date or `-latest`; null when none, or not one only. */
  readonly resolve: (name: string) => Model | null;
  /** The routes whose provider is switched on, in order. */
  readonly liveRoutes: (model: Model) => readonly Route[];
  /** Every model, whether it can run or not: the built-in ones first, in their order. */
  readonly list: () => readonly Model[];
  readonly aliases: ReadonlyMap<string, Model>;
  /** The models that make images. No name means a model of both. */
  readonly images: ImageCatalog;
  /** What the operator should know of the models: free ones, and ones that never run. */
  readonly warnings: readonly string[];
};

export type CatalogParts = {
  readonly models: readonly Model[];
  readonly aliases: ReadonlyMap<string, Model>;
  /** The names of the providers that are switched on. */
  readonly liveProviders: ReadonlySet<string>;
  readonly warnings: readonly string[];
  /** Left out: none. */
  readonly images?: ImageCatalog;
};

export function createCatalog({ models, aliases, liveProviders, warnings, images = noImageModels }: CatalogParts): Catalog {
  const byId = new Map(models.map((model) => [model.id, model]));
  const liveRoutes = new Map(models.map((model) => [model, model.routes.filter(({ provider }) => liveProviders.has(provider))]));
  return {
    resolve: (name) => byId.get(name) ?? aliases.get(name) ?? resolveVariant(byId, name),
    liveRoutes: (model) => liveRoutes.get(model) ?? [],
    list: () => models,
    aliases,
    images,
    warnings,
  };
}
