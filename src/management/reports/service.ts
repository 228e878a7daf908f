// The state of the service: its providers, catalogue and configuration.
import { readProviders, type ProviderOverview } from '../../domain/activity/queries.ts';
import type { ImageModel, ImageRoute } from '../../terms/image-model.ts';
import { checkCatalog } from '../../domain/catalog/check-catalog.ts';
import { readBuiltInCatalog } from '../../domain/catalog/load-catalog.ts';
import { readBuiltInImageCatalog } from '../../domain/catalog/load-image-catalog.ts';
import { listPricePpm, priceAt, priceFor } from '../../domain/catalog/price.ts';
import { readPrices } from '../../domain/catalog/read-prices.ts';
import type { Model, Route } from '../../domain/catalog/model.ts';
import type { Config } from '../../config/schema.ts';
import { showSettings } from '../../config/shown-settings.ts';
import type {
  CatalogueModel,
  CatalogueRoute,
  serviceEndpoints,
  ProviderDay,
  ProviderRoute,
} from '../contract/service.ts';
import { isPostgresUrl } from '../../db/database.ts';
import type { RouteState } from '../../gateway/calling/health.ts';
import type { ManagementContext } from '../context.ts';
import type { Handlers } from '../handlers.ts';
import { snakeCase } from '../../lib/snake-case.ts';
import { dayMs } from '../../lib/utc-time.ts';
import { isoTimeOf } from '../../lib/iso-time.ts';
import { showLatency } from './analytics-sums.ts';
import { describeTokenPrices, endOf, microsOf } from './models.ts';

export const serviceHandlers: Handlers<typeof serviceEndpoints> = {
  'GET /operator/providers': async ({ context }) => {
    const { config } = context.gateway;
    const { routing } = context.gateway.hosts;
    const routes = Map.groupBy(routing.health.states(), ({ provider }) => provider);
    const models = countModels(context);
    const toMs = context.gateway.clock.nowMs();
    const days = await readProviders(context.database.read, { fromMs: toMs - dayMs, toMs });
    const data = Object.entries(config.providers).map(([name, provider]) => ({
      name,
      kind: provider.kind,
      is_on: provider.enabled,
      base_url: provider.base_url,
      has_key: provider.api_key !== null,
      models: models.get(name)?.size ?? 0,
      last_day: dayOf(days.find(({ provider: called }) => called === name)),
      routes: (routes.get(name) ?? []).map(toRoute),
    }));
    return {
      data: data.toSorted(
        (one, other) =>
          Number(other.is_on) - Number(one.is_on) || one.name.localeCompare(other.name),
      ),
    };
  },

  'GET /operator/catalogue': async ({ context: { gateway } }) => {
    const { config } = gateway;
    const { catalog } = gateway.hosts;
    const nowMs = gateway.clock.nowMs();
    const found = checkCatalog(catalog, { markup: config.pricing.markup, nowMs });
    const problems = Map.groupBy(found, ({ id }) => id);
    const aliases = Map.groupBy(
      [...catalog.aliases, ...catalog.images.aliases],
      ([, { id }]) => id,
    );
    const common = (model: Model | ImageModel) => ({
      id: model.id,
      name: model.displayName,
      ...endOf(model),
      problems: (problems.get(model.id) ?? []).map(({ problem }) => problem),
      routes: model.routes.map((route) => toCatalogueRoute(route, config)),
      aliases: (aliases.get(model.id) ?? []).map(([alias]) => alias),
    });
    const data: CatalogueModel[] = [
      ...catalog.list().map((model) => ({
        ...common(model),
        type: model.type,
        ...chatPrices(model, { markup: config.pricing.markup, nowMs }),
        context_tokens: model.contextTokens,
        max_output_tokens: model.maxOutputTokens,
        ...entryOf(builtInChat.get(model.id), config.models[model.id]),
      })),
      ...catalog.images.list().map((model) => ({
        ...common(model),
        type: 'image' as const,
        price: null,
        cost: null,
        context_tokens: null,
        max_output_tokens: null,
        ...entryOf(builtInImages.get(model.id), config.image_models[model.id]),
      })),
    ];
    return { data, warnings: catalog.warnings };
  },

  'GET /operator/settings': async ({ context: { gateway, database } }) => ({
    database: isPostgresUrl(database.url) ? ('postgres' as const) : ('sqlite' as const),
    data_dir: gateway.config.dataDir,
    warnings: gateway.config.warnings,
    settings: showSettings(gateway.config).map(snakeCase),
  }),
};

const byId = <Entry extends { readonly id: string }>(models: readonly Entry[]) =>
  new Map(models.map((model) => [model.id, model]));
const builtInChat = byId(readBuiltInCatalog().models);
const builtInImages = byId(readBuiltInImageCatalog().models);

function chatPrices(model: Model, at: { readonly markup: number; readonly nowMs: number }) {
  const price = priceFor(model, { ...at, multiplierPpm: listPricePpm });
  const prices = readPrices(builtInChat.get(model.id) ?? {}, false);
  const cost = priceAt({ prices }, at.nowMs);
  return {
    price: price && describeTokenPrices(price.list.base),
    cost: cost && describeTokenPrices(cost.base),
    ...(price?.list.unit !== undefined && { unit_price_micros: microsOf(price.list.unit) }),
    ...(cost?.unit !== undefined && { unit_cost_micros: microsOf(cost.unit) }),
  };
}

/** A model's fields as in the configuration file, without the remarks of the built-in lists. */
function entryOf(builtIn: object = {}, own: { prices?: unknown; supports?: object } = {}) {
  const fields = { ...builtIn, ...own } as Record<string, unknown>;
  if (own.supports) fields['supports'] = { ...(builtIn as typeof own).supports, ...own.supports };
  for (const remark of ['id', 'note', 'checked', 'created_is']) delete fields[remark];
  return { entry: fields, is_own_price: own.prices !== undefined };
}

function dayOf(day: ProviderOverview | undefined): ProviderDay | null {
  if (!day) return null;
  const { calls, failures, refusals, stream, whole } = day;
  return { calls, failures, refusals, stream: showLatency(stream), whole: showLatency(whole) };
}

/** The catalogue's models by provider. */
function countModels({
  gateway: {
    hosts: { catalog },
  },
}: ManagementContext): ReadonlyMap<string, ReadonlySet<string>> {
  const models = new Map<string, Set<string>>();
  for (const { id, routes } of [...catalog.list(), ...catalog.images.list()]) {
    for (const { provider } of routes)
      models.set(provider, (models.get(provider) ?? new Set()).add(id));
  }
  return models;
}

function toRoute({
  upstreamModel: model,
  state,
  reason,
  ejectedUntilMs,
  calls,
  failures,
  refusals,
}: RouteState): ProviderRoute {
  const ejected_until = isoTimeOf(ejectedUntilMs);
  return { model, state, reason, ejected_until, calls, failures, refusals };
}

function toCatalogueRoute(route: Route | ImageRoute, { providers }: Config): CatalogueRoute {
  const models =
    'upstreamModel' in route
      ? [route.upstreamModel]
      : [...new Set(Object.values(route.upstreamModels))];
  return { provider: route.provider, models, is_on: providers[route.provider]?.enabled ?? false };
}
