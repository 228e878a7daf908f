// The model catalogue and the resolution of client names. Created at start and never changed.
import { withoutOwnKey } from '../../terms/own-key.ts';
import { noImageModels, type ImageCatalog } from './image-catalog.ts';
import type { Model, Route } from './model.ts';
import { createRoutedModels, type RoutedModels, type RoutedModelsParts } from './routed-models.ts';

export type Catalog = RoutedModels<Model, Route> & {
  /** Image models. No name means both a chat and an image model. */
  readonly images: ImageCatalog;
  /** Warnings for the operator: free models, and models that never run. */
  readonly warnings: readonly string[];
};

type CatalogParts = RoutedModelsParts<Model> & {
  readonly warnings: readonly string[];
  readonly images?: ImageCatalog;
};

export function createCatalog({
  warnings,
  images = noImageModels,
  ...parts
}: CatalogParts): Catalog {
  return { ...createRoutedModels<Model, Route>(parts), images, warnings };
}

/**
 * Returns the provider's own id of a model, by the model's first route there; else the model's id,
 * which is mostly the vendor's.
 */
export function upstreamModelIn({
  resolve,
}: Pick<Catalog, 'resolve'>): (modelId: string, provider: string) => string {
  return (modelId, provider) =>
    resolve(modelId)?.routes.find((route) => route.provider === withoutOwnKey(provider))
      ?.upstreamModel ?? modelId;
}
