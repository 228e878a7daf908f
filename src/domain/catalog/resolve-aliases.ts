// Resolves the configured aliases to chat or image models. Every name has a single meaning.
import type { ImageModel } from '../../terms/image-model.ts';
import { configFault } from '../../config/config-fault.ts';
import type { Config } from '../../config/schema.ts';
import { nearestOf } from '../../lib/nearest.ts';
import type { Model } from './model.ts';
import { resolveVariant } from './names.ts';

type Models = { readonly models: readonly Model[]; readonly imageModels: readonly ImageModel[] };
type Aliases = {
  readonly chat: ReadonlyMap<string, Model>;
  readonly images: ReadonlyMap<string, ImageModel>;
};

/**
 * Throws ConfigError for an invalid alias, and for an id that a chat model and an image model
 * share.
 */
export function resolveAliases(config: Config, { models, imageModels }: Models): Aliases {
  const byId = new Map(models.map((model) => [model.id, model]));
  const imagesById = new Map(imageModels.map((model) => [model.id, model]));
  for (const id of byId.keys()) if (imagesById.has(id)) throw sharedId(config, id);
  const chat = new Map<string, Model>();
  const images = new Map<string, ImageModel>();
  for (const [alias, target] of Object.entries(config.aliases)) {
    if (byId.has(alias) || imagesById.has(alias)) throw idAsAlias(config, alias);
    const model = byId.get(target);
    const image = imagesById.get(target);
    const chatVariant = model ?? (image ? null : resolveVariant(byId, target));
    const imageVariant = image ?? (model ? null : resolveVariant(imagesById, target));
    if (chatVariant && !imageVariant) chat.set(alias, chatVariant);
    else if (imageVariant && !chatVariant) images.set(alias, imageVariant);
    else
      throw unknownTarget(config, { alias, target, ids: [...byId.keys(), ...imagesById.keys()] });
  }
  return { chat, images };
}

function sharedId(config: Config, id: string) {
  const section = config.image_models[id] ? 'image_models' : 'models';
  return configFault(config, [section, id], {
    problem: 'is the id of both a chat model and an image model',
    remedy: 'Choose another id: a name must mean one model.',
  });
}

function idAsAlias(config: Config, alias: string) {
  return configFault(config, ['aliases', alias], {
    problem: 'is the id of a model, which always means that model',
    remedy:
      'Choose another name for the alias, or override the model under `models` or `image_models`.',
  });
}

function unknownTarget(
  config: Config,
  {
    alias,
    target,
    ids,
  }: { readonly alias: string; readonly target: string; readonly ids: readonly string[] },
) {
  const suggestion = nearestOf(target, ids);
  return configFault(config, ['aliases', alias], {
    problem: `must name a model; got ${JSON.stringify(target)}, which is not a model`,
    remedy:
      suggestion === null
        ? 'Use the id of a model, not another alias; `tollgate models list` shows the ids.'
        : `Did you mean \`${suggestion}\`?`,
  });
}
