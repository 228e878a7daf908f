// The model catalogue and the resolution of client names. Created at start and never changed.
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
