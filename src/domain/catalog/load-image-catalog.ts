// Merges the built-in image models (catalog/images.json) with the configuration, which can add
// models and override fields. Parameters and their limits belong to the family, so all of its
// models accept the same.
import imageModels from '../../../catalog/images.json' with { type: 'json' };
import type { ImageFamily, ImageModel, ImageRoute, ImageTier } from '../../terms/image-model.ts';
import type { ImageModelEntry, ImageRouteEntry } from '../../config/image-model-schema.ts';
import { imageParametersOfKind } from '../../terms/provider-kind.ts';
import { credentialsOf, kindOfProvider } from '../../config/known-providers.ts';
import { configFault } from '../../config/config-fault.ts';
import type { Config } from '../../config/schema.ts';
import { nearestOf } from '../../lib/nearest.ts';
import { readInputImages, readParameters, tiersOf, type FamilyEntry } from './image-family.ts';
import { readRetirement } from './read-retirement.ts';
import { readImagePrice, unpricedTiersOf } from './read-image-price.ts';

/**
 * The content of the built-in catalogue. A test validates the file, so it is not validated at
 * start.
 */
type BuiltInImageCatalog = {
  /** The date of its data, `YYYY-MM-DD`. */
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

/** Throws ConfigError for an incomplete new model, and for an override of a fixed field. */
export function loadImageModels(config: Config): ImageModel[] {
  const builtIn = readBuiltInImageCatalog();
  const builtInIds = new Set(builtIn.models.map(({ id }) => id));
  const overridden = builtIn.models.map((model) => overrideFields(config, model));
  const added = Object.entries(config.image_models).filter(([id]) => !builtInIds.has(id));
  const entries = [...overridden, ...added.map((entry) => requireFields(config, entry, builtIn))];
  return entries.map((entry) => toModel(config, builtIn, entry));
}

/** Returns warnings for the operator: models without a price, and prices of 0. */
export function warningsOfImageModels(models: readonly ImageModel[]): string[] {
  return models.flatMap(({ id, price }) => {
    if (!price)
      return [
        `The image model ${id} has no price, so it never runs; set image_models.${id}.prices.`,
      ];
    const free = Object.entries(price.output).flatMap(([tier, picos]) =>
      picos === 0n ? [tier] : [],
    );
    return warnOfFree(`The image model ${id}`, free);
  });
}

export function warnOfFree(subject: string, free: readonly string[]): string[] {
  return free.length === 0
    ? []
    : [`${subject} is partly free of charge: its price is 0 for ${free.join(', ')}.`];
}

/** A model's fields, merged from both sources. */
type JoinedEntry = {
  readonly id: string;
  readonly fields: ImageModelEntry;
  readonly mode: ImageModel['mode'];
  readonly family: ImageFamily;
  readonly routes: readonly ImageRouteEntry[];
  /** True when the operator set the price: no markup is added. */
  readonly isListPrice: boolean;
};

function overrideFields(
  config: Config,
  { id, note: _note, ...builtIn }: BuiltInImageModel,
): JoinedEntry {
  const override = config.image_models[id];
  for (const field of ['mode', 'family'] as const) {
    if (override?.[field] === undefined || override[field] === builtIn[field]) continue;
    throw configFault(config, ['image_models', id, field], {
      problem: `is \`${builtIn[field]}\` for this built-in model; got \`${override[field]}\``,
      remedy: 'Remove it, or add a new model under another id.',
    });
  }
  const { mode, family } = builtIn;
  const fields = { ...builtIn, ...override };
  return {
    id,
    fields,
    mode,
    family,
    routes: fields.routes!,
    isListPrice: override?.prices !== undefined,
  };
}

function requireFields(
  config: Config,
  [id, fields]: readonly [string, ImageModelEntry],
  { models }: BuiltInImageCatalog,
): JoinedEntry {
  const { mode, family, routes } = fields;
  if (mode && family && routes) return { id, fields, mode, family, routes, isListPrice: true };
  const missing = mode ? (family ? 'routes' : 'family') : 'mode';
  const suggestion = nearestOf(
    id,
    models.map((model) => model.id),
  );
  throw configFault(config, ['image_models', id, missing], {
    problem: 'is required for a model that is not built in',
    remedy: `Add its \`mode\`, its \`family\` and \`routes: [{ provider: …, model: … }]\`${suggestion === null ? '' : `, or did you mean the built-in ${suggestion}?`}.`,
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
    routes: routes
      .map((route, index) => toRoute(config, { entry, familyEntry, route, index }))
      .flatMap((route) =>
        credentialsOf(config.providers, route.provider).map((provider) => ({ ...route, provider })),
      ),
    price: fields.prices
      ? readImagePrice(fields.prices, { family: familyEntry, isListPrice })
      : null,
    retirement: readRetirement(config, ['image_models', id], fields),
  };
}

/**
 * Checks that exactly the family's tiers are priced, so that every accepted request can be charged.
 */
function checkTiers(
  config: Config,
  { id, fields, family }: JoinedEntry,
  tiers: readonly ImageTier[],
): void {
  for (const { field, tier, problem } of fields.prices
    ? unpricedTiersOf(fields.prices, tiers)
    : []) {
    throw configFault(config, ['image_models', id, 'prices', field, tier], {
      problem,
      remedy: `A model of the family ${family} has one price for each of ${tiers.join(', ')}.`,
    });
  }
}

type RouteSource = {
  readonly entry: JoinedEntry;
  readonly familyEntry: FamilyEntry;
  readonly route: ImageRouteEntry;
  readonly index: number;
};

function toRoute(config: Config, { entry, familyEntry, route, index }: RouteSource): ImageRoute {
  const { id, family } = entry;
  const { provider, model, models = {} } = route;
  const path = ['image_models', id, 'routes', index];
  const kind = kindOfProvider(config.providers, provider);
  const parameters = kind && imageParametersOfKind(kind);
  if (parameters && parameters !== readParameters(familyEntry).kind) {
    throw configFault(config, [...path, 'provider'], {
      problem: `is of kind \`${kind}\`, which does not accept the parameters of the family ${family}`,
      remedy:
        parameters === 'size'
          ? 'It accepts `size` and `quality`.'
          : 'It accepts `aspect_ratio` and `resolution`.',
    });
  }
  const tiers = tiersOf(familyEntry);
  const missing =
    model === undefined ? tiers.find((tier) => models[tier] === undefined) : undefined;
  if (missing !== undefined) {
    throw configFault(config, [...path, 'models', missing], {
      problem: 'is required: the upstream model for this tier',
      remedy: `Name one for each of ${tiers.join(', ')}, or set \`model\` for all of them.`,
    });
  }
  return {
    provider,
    upstreamModels: Object.fromEntries(tiers.map((tier) => [tier, model ?? models[tier]!])),
  };
}
