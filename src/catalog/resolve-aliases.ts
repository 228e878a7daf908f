// What each alias of the configuration means: a chat model or one that makes images. No name means two things.
import type { ImageModel } from '../canonical/image-model.ts';
import { configFault } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { nearestOf } from '../config/unknown-field.ts';
import type { Model } from './model.ts';
import { resolveVariant } from './names.ts';

export type Models = { readonly models: readonly Model[]; readonly imageModels: readonly ImageModel[] };
export type Aliases = { readonly chat: ReadonlyMap<string, Model>; readonly images: ReadonlyMap<string, ImageModel> };

/** Throws ConfigError for an alias that cannot stand, and for an id that is a chat model's and an image model's. */
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
    else throw unknownTarget(config, { alias, target, ids: [...byId.keys(), ...imagesById.keys()] });
  }
  return { chat, images };
}

function sharedId(config: Config, id: string) {
  const section = config.image_models[id] ? 'image_models' : 'models';
  return configFault(config, [section, id], {
    problem: 'is the id of a chat model and of one that makes images',
    remedy: 'Choose another id: a name means one model.',
  });
}

function idAsAlias(config: Config, alias: string) {
  return configFault(config, ['aliases', alias], {
    problem: 'is the id of a model, which always means that model',
    remedy: 'Choose another name for the alias, or override the model under `models` or `image_models`.',
  });
}

function unknownTarget(
  config: Config,
  { alias, target, ids }: { readonly alias: string; readonly target: string; readonly ids: readonly string[] },
) {
  const meant = nearestOf(target, ids);
  return configFault(config, ['aliases', alias], {
    problem: `must name a model; got ${JSON.stringify(target)}, which is none`,
    remedy:
      meant === null
        ? 'Name a model by its id, not by another alias; `tollgate models list` shows them.'
        : `Did you mean \`${meant}\`?`,
  });
}
