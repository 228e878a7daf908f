// `tollgate models …`
import type { ImageModel } from '../terms/image-model.ts';
import type { Catalog } from '../domain/catalog/catalog.ts';
import {
  checkCatalog,
  endingModels,
  type CatalogProblem,
  type EndingModel,
} from '../domain/catalog/check-catalog.ts';
import { imagePricesOf } from '../domain/catalog/image-listing.ts';
import { loadCatalog, readBuiltInCatalog } from '../domain/catalog/load-catalog.ts';
import { readBuiltInImageCatalog } from '../domain/catalog/load-image-catalog.ts';
import { listPricePpm, priceFor } from '../domain/catalog/price.ts';
import type { Model } from '../domain/catalog/model.ts';
import type { Config } from '../config/schema.ts';
import {
  usdFromPicos,
  usdPerMillionFromPicos,
  type Picos,
  type PicosPerToken,
} from '../lib/money.ts';
import { dayOf } from '../lib/utc-time.ts';
import { type Output, tableOf } from './output.ts';
import { systemClock } from '../lib/clock.ts';
import { loadSavedConfig } from './saved-config.ts';

export async function listModelsCommand(): Promise<Output> {
  const config = await loadSavedConfig();
  const catalog = loadCatalog(config);
  const models = catalog.list().map((model) => describeModel(config, catalog, model));
  const images = catalog.images.list().map((model) => describeImageModel(config, catalog, model));
  const routesOf = ({ live, routes }: { live: boolean; routes: readonly string[] }) =>
    live ? routes.join(', ') : 'off';
  const table = tableOf(models, {
    MODEL: ({ id }) => id,
    'LIVE ROUTES': routesOf,
    INPUT: (model) => String(model.max_input_tokens),
    OUTPUT: (model) => String(model.max_output_tokens),
    'USD/M IN': (model) => pricesOf(model)[0],
    'USD/M OUT': (model) => pricesOf(model)[1],
  });
  const priced = (prices: readonly (readonly [tier: string, usd: number])[]) =>
    prices.map(([tier, usd]) => `${tier} $${usd}`).join(', ');
  const imageTable = tableOf(images, {
    'IMAGE MODEL': ({ id }) => id,
    'LIVE ROUTES': routesOf,
    MODE: ({ mode }) => mode,
    'USD PER IMAGE (1 MEGAPIXEL)': ({ image_prices: prices }) =>
      prices ? priced(Object.entries(prices.output)) : 'unknown',
    'USD PER INPUT IMAGE': ({ image_prices: prices }) =>
      [...new Set(Object.values(prices?.input_image ?? {}))].map((usd) => `$${usd}`).join(', '),
  });
  return [[...models, ...images], `${table}\n\n${imageTable}\n\n${priceDates}`];
}

const priceDates = `Prices that the configuration does not set come from the built-in catalogue (models of ${readBuiltInCatalog().as_of}, image models of ${readBuiltInImageCatalog().as_of}).`;

/** Lists what keeps models from running, models that end, and prices that no second source confirms. */
export async function checkModelsCommand(): Promise<Output> {
  const config = await loadSavedConfig();
  const catalog = loadCatalog(config);
  const problems = [
    ...checkCatalog(catalog, { markup: config.pricing.markup, nowMs: systemClock.nowMs() }).map(
      describeProblem,
    ),
    ...endingModels(catalog).map((model) => describeEnd(model, systemClock.nowMs())),
    ...unconfirmedPrices(config),
  ];
  const text = [
    tableOf(problems, { MODEL: ({ id }) => id, PROBLEM: ({ problem }) => problem }),
    ...catalog.warnings.map((warning) => `note: ${warning}`),
  ].join('\n');
  return [
    problems,
    problems.length === 0
      ? 'Every model has a live route and a price that a second source confirms, and none ends.'
      : text,
  ];
}

/** Built-in prices that no other list confirms. Prices that the operator sets are not checked. */
function unconfirmedPrices(config: Config): { id: string; problem: string }[] {
  return readBuiltInCatalog()
    .models.filter(
      ({ id, checked }) => checked === undefined && config.models[id]?.prices === undefined,
    )
    .map(({ id, note }) => ({
      id,
      problem: `its price has no second source${note === undefined ? '' : `: ${note}`}`,
    }));
}

function describeModel(config: Config, catalog: Catalog, model: Model) {
  const price = currentPrice(config, model);
  const live = catalog.liveRoutes(model);
  return {
    id: model.id,
    display_name: model.displayName,
    ...(model.type !== 'chat' && { type: model.type }),
    live: live.length > 0,
    routes: live.map((route) => route.provider),
    max_input_tokens: model.maxInputTokens,
    max_output_tokens: model.maxOutputTokens,
    input_price_per_1m: price && usdPerMillionFromPicos(price.list.base.input),
    output_price_per_1m: price && usdPerMillionFromPicos(price.list.base.output),
    ...unitPriceOf(model, price?.list.unit),
    prices_as_of: isBuiltInPrice(config, model.id) ? readBuiltInCatalog().as_of : null,
  };
}

/** What a model sells in place of tokens. */
function unitPriceOf({ type }: Model, unit: Picos | undefined): UnitPrice {
  if (unit === undefined) return {};
  if (type === 'transcription') return { price_per_minute: usdFromPicos(unit * 60n) };
  return type === 'rerank'
    ? { price_per_search_unit: usdFromPicos(unit) }
    : { price_per_1m_characters: usdPerMillionFromPicos(Number(unit) as PicosPerToken) };
}

type UnitPrice = {
  readonly price_per_minute?: number;
  readonly price_per_search_unit?: number;
  readonly price_per_1m_characters?: number;
};

function pricesOf(model: ReturnType<typeof describeModel>): [input: string, output: string] {
  const { input_price_per_1m: input, output_price_per_1m: output } = model;
  const { price_per_1m_characters: characters, price_per_search_unit: searchUnit } = model;
  if (characters !== undefined) return [`$${characters}/M characters`, '–'];
  const { price_per_minute: minute } = model;
  if (minute !== undefined) return [`$${minute}/minute`, '–'];
  if (searchUnit !== undefined) return [`$${searchUnit}/search unit`, '–'];
  return [input === null ? 'unknown' : `$${input}`, output === null ? 'unknown' : `$${output}`];
}

function isBuiltInPrice(config: Config, id: string): boolean {
  return (
    config.models[id]?.prices === undefined &&
    readBuiltInCatalog().models.some((model) => model.id === id)
  );
}

function describeImageModel({ pricing }: Config, { images }: Catalog, model: ImageModel) {
  const live = images.liveRoutes(model);
  return {
    id: model.id,
    display_name: model.displayName,
    type: 'image' as const,
    mode: model.mode,
    family: model.family,
    live: live.length > 0,
    routes: live.map((route) => route.provider),
    image_prices: imagePricesOf(model, { markup: pricing.markup, multiplierPpm: listPricePpm }),
  };
}

function describeProblem({ id, type, problem, providers }: CatalogProblem) {
  if (problem === 'no-route')
    return { id, problem: `no provider of it is switched on (${providers.join(', ')})` };
  return { id, problem: `no price${type === 'image' ? '' : ' in effect'}: it never runs` };
}

function describeEnd({ id, retiresAtMs, successor }: EndingModel, nowMs: number) {
  const verb = retiresAtMs <= nowMs ? 'ended' : 'ends';
  const next = successor === null ? '' : `; ${successor} takes its place`;
  return { id, problem: `its provider ${verb} it on ${dayOf(retiresAtMs)}${next}` };
}

function currentPrice(config: Config, model: Model) {
  return priceFor(model, {
    nowMs: systemClock.nowMs(),
    markup: config.pricing.markup,
    multiplierPpm: listPricePpm,
  });
}
