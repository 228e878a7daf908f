// Joins the built-in models that make images (catalog/images.json) with those of the configuration, which adds models or overrides
// single fields. Parameters and their limits are a family's, so that all of its models take the same.
import imageModels from '../../catalog/images.json' with { type: 'json' };
import type { ImageFamily, ImageModel, ImageRoute, ImageTier } from '../canonical/image-model.ts';
import type { ImageModelEntry, ImageRouteEntry } from '../config/image-model-schema.ts';
import { imageParametersOfKind, kindOfProvider } from '../config/known-providers.ts';
import { configFault } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { nearestOf } from '../config/unknown-field.ts';
import { readInputImages, readParameters, tiersOf, type FamilyEntry } from './image-family.ts';
import { readImagePrice, unpricedTiersOf } from './read-image-price.ts';

/** The built-in models as they are written down. The file is our own: a test checks all of it, so that a start need not. */
export type BuiltInImageCatalog = {
  /** The day its facts are of, `YYYY-MM-DD`. */
  readonly as_of: string;
  readonly families: Readonly<Record<ImageFamily, FamilyEntry>>;
  readonly models: readonly BuiltInImageModel[];
};
type BuiltInImageModel = ImageModelEntry & {
  readonly id: string;
  readonly mode: ImageModel['mode'];
  readonly family: ImageFamily;
  readonly note?: string;
};

export function readBuiltInImageCatalog(): BuiltInImageCatalog {
  return imageModels as unknown as BuiltInImageCatalog;
}

/** Throws ConfigError for a new model that is not whole, and for an override of what is fixed. */
export function loadImageModels(config: Config, builtIn: BuiltInImageCatalog = readBuiltInImageCatalog()): ImageModel[] {
  const builtInIds = new Set(builtIn.models.map(({ id }) => id));
  const overridden = builtIn.models.map((model) => overrideFields(config, model));
  const added = Object.entries(config.image_models).filter(([id]) => !builtInIds.has(id));
  const entries = [...overridden, ...added.map(([id, fields]) => requireFields(config, { id, fields, builtInIds }))];
  return entries.map((entry) => toModel(config, builtIn, entry));
}

/** What the operator should know: models without a price, and prices of 0. */
export function warningsOfImageModels(models: readonly ImageModel[]): string[] {
  return models.flatMap(({ id, price }) => {
    if (!price) return [`The image model ${id} has no price, so it never runs; set image_models.${id}.prices.`];
    const free = Object.entries(price.output).flatMap(([tier, picos]) => (picos === 0n ? [tier] : []));
    return free.length === 0 ? [] : [`The image model ${id} is free of charge in part: its price is 0 for ${free.join(', ')}.`];
  });
}

/** A model's fields from both sources. */
type JoinedEntry = {
  readonly id: string;
  readonly fields: ImageModelEntry;
  readonly mode: ImageModel['mode'];
  readonly family: ImageFamily;
  readonly routes: readonly ImageRouteEntry[];
  /** The operator stated the price: no markup is added. */
  readonly isListPrice: boolean;
};

function overrideFields(config: Config, { id, note: _note, ...builtIn }: BuiltInImageModel): JoinedEntry {
  const override = config.image_models[id];
  for (const field of ['mode', 'family'] as const) {
    if (override?.[field] === undefined || override[field] === builtIn[field]) continue;
    throw configFault(config, ['image_models', id, field], {
      problem: `is \`${builtIn[field]}\` for this built-in model; got \`${override[field]}\``,
      remedy: 'Leave it out, or write a new model under an id of its own.',
    });
  }
  const { mode, family } = builtIn;
  const fields = { ...builtIn, ...override };
  return { id, fields, mode, family, routes: fields.routes!, isListPrice: override?.prices !== undefined };
}

function requireFields(
  config: Config,
  { id, fields, builtInIds }: { readonly id: string; readonly fields: ImageModelEntry; readonly builtInIds: ReadonlySet<string> },
): JoinedEntry {
  const { mode, family, routes } = fields;
  if (mode && family && routes) return { id, fields, mode, family, routes, isListPrice: true };
  const missing = mode ? (family ? 'routes' : 'family') : 'mode';
  const meant = nearestOf(id, [...builtInIds]);
  throw configFault(config, ['image_models', id, missing], {
    problem: 'is required for a model that is not built in',
    remedy: `Write its \`mode\`, its \`family\` and \`routes: [{ provider: …, model: … }]\`${meant === null ? '' : `, or did you mean the built-in ${meant}?`}.`,
  });
}

function toModel(config: Config, builtIn: BuiltInImageCatalog, entry: JoinedEntry): ImageModel {
  const { id, fields, mode, family, routes, isListPrice } = entry;
  const familyEntry = builtIn.families[family];
  checkTiers(config, entry, tiersOf(familyEntry));
  return {
    id,
    displayName: fields.display_name ?? id,
    ownedBy: fields.owned_by ?? routes[0]?.provider ?? id,
    createdAtSeconds: Date.parse(fields.created ?? builtIn.as_of) / 1_000,
    mode,
    family,
    inputImages: readInputImages(mode, fields.input_images_max ?? familyEntry.input_images_max),
    promptCharactersMax: familyEntry.prompt_characters_max,
    countMax: fields.images_max ?? familyEntry.images_max,
    parameters: readParameters(familyEntry),
    routes: routes.map((route, index) => toRoute(config, { entry, familyEntry, route, index })),
    price: fields.prices ? readImagePrice(fields.prices, { family: familyEntry, isListPrice }) : null,
  };
}

/** Every quality, or every resolution, has a price, and no other has: what a request may ask for it can be charged for. */
function checkTiers(config: Config, { id, fields, family }: JoinedEntry, tiers: readonly ImageTier[]): void {
  for (const { field, tier, problem } of fields.prices ? unpricedTiersOf(fields.prices, tiers) : []) {
    throw configFault(config, ['image_models', id, 'prices', field, tier], {
      problem,
      remedy: `A model of the family ${family} has one price for each of ${tiers.join(', ')}.`,
    });
  }
}

type RouteOfFamily = {
  readonly entry: JoinedEntry;
  readonly familyEntry: FamilyEntry;
  readonly route: ImageRouteEntry;
  readonly index: number;
};

function toRoute(config: Config, { entry, familyEntry, route, index }: RouteOfFamily): ImageRoute {
  const { id, family } = entry;
  const { provider, model, models = {} } = route;
  const path = ['image_models', id, 'routes', index];
  const kind = kindOfProvider(config.providers, provider);
  const takes = kind && imageParametersOfKind[kind];
  if (takes && takes !== readParameters(familyEntry).kind) {
    throw configFault(config, [...path, 'provider'], {
      problem: `is of kind \`${kind}\`, which does not take the parameters of the family ${family}`,
      remedy: takes === 'size' ? 'It takes `size` and `quality`.' : 'It takes `aspect_ratio` and `resolution`.',
    });
  }
  const tiers = tiersOf(familyEntry);
  const missing = model === undefined ? tiers.find((tier) => models[tier] === undefined) : undefined;
  if (missing !== undefined) {
    throw configFault(config, [...path, 'models', missing], {
      problem: 'is required: the model that makes it',
      remedy: `Name one for each of ${tiers.join(', ')}, or write \`model\` for all of them.`,
    });
  }
  return { provider, upstreamModels: Object.fromEntries(tiers.map((tier) => [tier, model ?? models[tier]!])) };
}
