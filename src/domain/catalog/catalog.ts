// The model catalogue and the resolution of client names. Created at start and never changed.
import { noImageModels, type ImageCatalog } from './image-catalog.ts';
import type { Model, Route } from './model.ts';
import { resolveVariant } from './names.ts';

export type Catalog = {
  /**
   * Resolves a client's name: an id, an alias, `vendor/id`, or an id with a date or `-latest`. null
   * when no model or several match.
   */
  readonly resolve: (name: string) => Model | null;
  /** Routes with an enabled provider, in order. */
  readonly liveRoutes: (model: Model) => readonly Route[];
  /** Every model, runnable or not: the built-in ones first, in their order. */
  readonly list: () => readonly Model[];
  readonly aliases: ReadonlyMap<string, Model>;
  /** Image models. No name means both a chat and an image model. */
  readonly images: ImageCatalog;
  /** Warnings for the operator: free models, and models that never run. */
  readonly warnings: readonly string[];
};

type CatalogParts = {
  readonly models: readonly Model[];
  readonly aliases: ReadonlyMap<string, Model>;
  /** The names of the enabled providers. */
  readonly liveProviders: ReadonlySet<string>;
  readonly warnings: readonly string[];
  readonly images?: ImageCatalog;
};

export function createCatalog({
  models,
  aliases,
  liveProviders,
  warnings,
  images = noImageModels,
}: CatalogParts): Catalog {
  const byId = new Map(models.map((model) => [model.id, model]));
  const liveRoutes = new Map(
    models.map((model) => [
      model,
      model.routes.filter(({ provider }) => liveProviders.has(provider)),
    ]),
  );
  return {
    resolve: (name) => byId.get(name) ?? aliases.get(name) ?? resolveVariant(byId, name),
    liveRoutes: (model) => liveRoutes.get(model) ?? [],
    list: () => models,
    aliases,
    images,
    warnings,
  };
}
