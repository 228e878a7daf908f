// Image models, and their resolution from client names by the same rules as chat models.
import type { ImageModel, ImageRoute } from '../../terms/image-model.ts';
import { createRoutedModels, type RoutedModels, type RoutedModelsParts } from './routed-models.ts';

export type ImageCatalog = RoutedModels<ImageModel, ImageRoute>;

/** OpenAI's own id, such as `gpt-image-2.6-flare`, means the model that it draws for. */
export function createImageCatalog(parts: RoutedModelsParts<ImageModel>): ImageCatalog {
  const routed = createRoutedModels<ImageModel, ImageRoute>(parts);
  const drawnBy = (id: string) => (model: ImageModel) =>
    model.mode === 'text-to-image' &&
    model.routes.some(({ upstreamModels }) => upstreamModels.medium === id);
  const findOwn = (name: string) =>
    name.startsWith('gpt-image-') ? (parts.models.find(drawnBy(name)) ?? null) : null;
  return { ...routed, resolve: (name) => routed.resolve(name) ?? findOwn(name) };
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
