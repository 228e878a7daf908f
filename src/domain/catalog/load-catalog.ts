// Merges the built-in models (catalog/*-models.json) with the configuration, which can add models and
// override fields.
import chatModels from '../../../catalog/chat-models.json' with { type: 'json' };
import embeddingModels from '../../../catalog/embedding-models.json' with { type: 'json' };
import moderationModels from '../../../catalog/moderation-models.json' with { type: 'json' };
import rerankModels from '../../../catalog/rerank-models.json' with { type: 'json' };
import speechModels from '../../../catalog/speech-models.json' with { type: 'json' };
import transcriptionModels from '../../../catalog/transcription-models.json' with { type: 'json' };
import { formatsOfKind } from '../../terms/provider-kind.ts';
import { credentialsOf, kindOfProvider } from '../../config/known-providers.ts';
import { configFault } from '../../config/config-fault.ts';
import type { Config } from '../../config/schema.ts';
import type { ModelEntry, RouteEntry } from '../../config/model-schema.ts';
import { nearestOf } from '../../lib/nearest.ts';
import { createCatalog, type Catalog } from './catalog.ts';
import { createImageCatalog } from './image-catalog.ts';
import { loadImageModels, warningsOfImageModels, warnOfFree } from './load-image-catalog.ts';
import type { Dimensions, Model, Route } from './model.ts';
import { resolveAliases } from './resolve-aliases.ts';
import { checkSuccessors, readRetirement } from './read-retirement.ts';
import { freePricesOf, freeToolsOf, readPrices } from './read-prices.ts';

/**
 * The content of the built-in catalogue. A test validates the file, so it is not validated at
 * start.
 */
export type BuiltInCatalog = {
  /** The date of its data, `YYYY-MM-DD`. */
  readonly as_of: string;
  readonly models: readonly BuiltInModel[];
};
type BuiltInModel = ModelEntry & {
  readonly id: string;
  /** The meaning of `created`: the day of release, or the nearest known day. */
  readonly created_is: 'release' | 'release-month' | 'first-listed';
  /** A remark for readers, for example why another price list differs. */
  readonly note?: string;
  /** Price lists that agreed with the prices, and when they were compared. */
  readonly checked?: readonly { readonly source: string; readonly date: string }[];
};

const newModel = { maxInputTokens: 128_000, maxOutputTokens: 16_384 } as const;

/** Throws ConfigError for a new model without a route and for an invalid alias. */
export function loadCatalog(
  config: Config,
  builtIn: BuiltInCatalog = readBuiltInCatalog(),
): Catalog {
  const entries = joinEntries(config, builtIn);
  const models = entries.map((entry) => toModel(config, entry));
  const imageModels = loadImageModels(config);
  checkSuccessors(config, 'models', models);
  checkSuccessors(config, 'image_models', imageModels);
  const aliases = resolveAliases(config, { models, imageModels });
  const liveProviders = new Set(
    Object.keys(config.providers).filter((name) => config.providers[name]!.enabled),
  );
  return createCatalog({
    models,
    aliases: aliases.chat,
    liveProviders,
    images: createImageCatalog({ models: imageModels, aliases: aliases.images, liveProviders }),
    warnings: [
      ...entries.flatMap(warningsOf),
      ...warningsOfImageModels(imageModels),
      ...Object.entries(config.providers).flatMap(warningsOfProvider),
    ],
  });
}

const builtInCatalog = {
  as_of: chatModels.as_of,
  models: [
    ...chatModels.models,
    ...embeddingModels.models,
    ...rerankModels.models,
    ...moderationModels.models,
    ...speechModels.models,
    ...transcriptionModels.models,
  ],
} as unknown as BuiltInCatalog;

export function readBuiltInCatalog(): BuiltInCatalog {
  return builtInCatalog;
}

/** A model's fields, merged from both sources. */
type JoinedEntry = {
  readonly id: string;
  readonly fields: ModelEntry;
  readonly created: string;
  /** True when the operator set the price: no markup is added. */
  readonly isListPrice: boolean;
};

function joinEntries(config: Config, { models, as_of }: BuiltInCatalog): JoinedEntry[] {
  const builtInIds = new Set(models.map(({ id }) => id));
  const overridden = models.map((builtIn) => {
    const override = config.models[builtIn.id];
    checkType(config, builtIn, override);
    const fields = override ? overrideFields(builtIn, override) : builtIn;
    return {
      id: builtIn.id,
      fields,
      created: fields.created ?? as_of,
      isListPrice: override?.prices !== undefined,
    };
  });
  const added = Object.entries(config.models).filter(([id]) => !builtInIds.has(id));
  return [...overridden, ...added.map((entry) => joinNew(config, entry, { models, as_of }))];
}

function checkType(config: Config, { id, type = 'chat' }: BuiltInModel, override?: ModelEntry) {
  if (override?.type === undefined || override.type === type) return;
  throw configFault(config, ['models', id, 'type'], {
    problem: `is \`${type}\` for this built-in model; got \`${override.type}\``,
    remedy: 'Remove it, or add a new model under another id.',
  });
}

function joinNew(
  config: Config,
  [id, fields]: readonly [string, ModelEntry],
  { models, as_of }: BuiltInCatalog,
): JoinedEntry {
  if (fields.routes) return { id, fields, created: fields.created ?? as_of, isListPrice: true };
  const suggestion = nearestOf(
    id,
    models.map((model) => model.id),
  );
  throw configFault(config, ['models', id, 'routes'], {
    problem: 'is required for a model that is not built in: where it runs',
    remedy: `Write \`routes: [{ provider: …, model: … }]\`${suggestion === null ? '' : `, or did you mean the built-in ${suggestion}?`}.`,
  });
}

/**
 * Applies an override. An overridden limit adjusts the limits that it contradicts: no input can be
 * larger than the context.
 */
function overrideFields(builtIn: ModelEntry, override: ModelEntry): ModelEntry {
  const fields: ModelEntry = {
    ...builtIn,
    ...override,
    supports: { ...builtIn.supports, ...override.supports },
  };
  const {
    context_tokens: context,
    max_input_tokens: input = 0,
    max_output_tokens: output = 0,
  } = fields;
  if (context === undefined) return fields;
  if (override.context_tokens === undefined)
    return { ...fields, context_tokens: Math.max(context, input, output) };
  return {
    ...fields,
    max_input_tokens: Math.min(input, context),
    max_output_tokens: Math.min(output, context),
  };
}

function toModel(config: Config, { id, fields, created, isListPrice }: JoinedEntry): Model {
  const { type = 'chat', max_input_tokens: maxInputTokens = newModel.maxInputTokens } = fields;
  const maxOutputTokens =
    type === 'chat' ? (fields.max_output_tokens ?? newModel.maxOutputTokens) : 0;
  const routes = toRoutes(config, fields.routes ?? []);
  return {
    id,
    type,
    displayName: fields.display_name ?? id,
    ownedBy: fields.owned_by ?? routes[0]?.provider ?? id,
    createdAtSeconds: Date.parse(created) / 1_000,
    contextTokens: fields.context_tokens ?? maxInputTokens + maxOutputTokens,
    maxInputTokens,
    maxOutputTokens,
    supports: {
      thinking: false,
      streaming: true,
      vision: false,
      audio: false,
      tools: true,
      ...fields.supports,
    },
    routes,
    dimensions: fields.dimensions ? readDimensions(fields.dimensions) : null,
    prices: readPrices(fields, isListPrice),
    toolPrices: fields.tool_prices ?? {},
    timeouts: fields.timeouts ?? {},
    retirement: readRetirement(config, ['models', id], fields),
    passFields: new Set(fields.pass_fields),
    marksCache: fields.cache_marks ?? true,
  };
}

function readDimensions({
  default: usual,
  min = usual,
  max = usual,
}: NonNullable<ModelEntry['dimensions']>): Dimensions {
  return { default: usual, min, max };
}

function toRoutes(config: Config, entries: readonly RouteEntry[]): Route[] {
  return entries
    .flatMap((entry, position) => withCredentials(config, toRoute(config, entry, position)))
    .toSorted((one, other) => one.rank - other.rank);
}

/** The route, and one with each further credential of its provider. */
function withCredentials({ providers }: Config, route: Route): Route[] {
  return credentialsOf(providers, route.provider).map((provider) => ({
    ...route,
    provider,
    weight: route.weight * (providers[provider]?.weight ?? 1),
  }));
}

/**
 * Reads a route. If the operator configured a known provider with another kind, a built-in format
 * that this kind does not speak is dropped.
 */
function toRoute(config: Config, entry: RouteEntry, position: number): Route {
  const {
    provider,
    model,
    api,
    rank = position,
    weight = 1,
    context_tokens: contextTokens = null,
    lacks,
    cost_factor: costFactor = 1,
    batch_model: batchModel = null,
  } = entry;
  const kind = kindOfProvider(config.providers, provider);
  const isSpoken =
    api !== undefined &&
    (kind === undefined || formatsOfKind(kind).some((format: string) => format === api));
  return {
    provider,
    upstreamModel: model,
    api: isSpoken ? api : null,
    rank,
    weight,
    contextTokens,
    lacks: new Set(lacks),
    costPpm: Math.round(costFactor * 1_000_000),
    batchModel,
  };
}

function warningsOf({ id, fields }: JoinedEntry): string[] {
  if (fields.prices === undefined)
    return [`The model ${id} has no price, so it never runs; set models.${id}.prices.`];
  return warnOfFree(`The model ${id}`, [
    ...freePricesOf(fields),
    ...freeToolsOf(fields.tool_prices),
  ]);
}

function warningsOfProvider([name, { tool_prices: toolPrices }]: [
  string,
  Config['providers'][string],
]): string[] {
  return warnOfFree(`The provider ${name}`, freeToolsOf(toolPrices));
}
