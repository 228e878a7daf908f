// Image models, and their resolution from client names by the same rules as chat models.
import type { ImageModel, ImageRoute } from '../../canonical/image-model.ts';
import { resolveVariant } from './names.ts';

export type ImageCatalog = {
  /**
   * Resolves a client's name: an id, an alias, `vendor/id`, or an id with a date or `-latest`. null
   * when no model matches.
   */
  readonly resolve: (name: string) => ImageModel | null;
  /** Routes with an enabled provider, in order. */
  readonly liveRoutes: (model: ImageModel) => readonly ImageRoute[];
  /** Every model, runnable or not: the built-in ones first, in their order. */
  readonly list: () => readonly ImageModel[];
  readonly aliases: ReadonlyMap<string, ImageModel>;
};

type ImageCatalogParts = {
  readonly models: readonly ImageModel[];
  readonly aliases: ReadonlyMap<string, ImageModel>;
  /** The names of the enabled providers. */
  readonly liveProviders: ReadonlySet<string>;
};

export function createImageCatalog({
  models,
  aliases,
  liveProviders,
}: ImageCatalogParts): ImageCatalog {
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
  };
}

/**
 * Returns the editing sibling of a text-to-image model: `flux-2-edit`, or `flux-2-reference` when
 * it takes too few images. Returns the model itself when it has no sibling.
 */
export function editSiblingOf(
  { list }: ImageCatalog,
  model: ImageModel,
  imageCount: number,
): ImageModel {
  if (model.mode !== 'text-to-image') return model;
  const siblings = ['edit', 'reference'].flatMap((mode) =>
    list().filter(({ id }) => id === `${model.id}-${mode}`),
  );
  return siblings.find(({ inputImages: { max } }) => imageCount <= max) ?? siblings[0] ?? model;
}

export const noImageModels: ImageCatalog = createImageCatalog({
  models: [],
  aliases: new Map(),
  liveProviders: new Set(),
});
