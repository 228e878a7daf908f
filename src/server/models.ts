// The catalogue over HTTP: the models that this caller may use, and their prices.
import type { FastifyRequest } from 'fastify';
import {
  type Charging,
  listModelInfo,
  listModels,
  modelEntry,
  type Viewer,
} from '../domain/catalog/listing.ts';
import { nearestModelId } from '../domain/catalog/nearest-model.ts';
import { modelEnded } from '../gateway/retirement.ts';
import { modelNotFound } from '../gateway/routing/route.ts';
import { shownSearchPrices } from '../gateway/search/search-prices.ts';
import { listPricePpm } from '../domain/catalog/price.ts';
import { multiplierPpmFor } from '../domain/keys/api-key.ts';
import type { Handler, ServerContext } from './context.ts';
import { pageOf } from './models-page.ts';

export function getModels({ gateway }: ServerContext): Handler {
  return async (request) =>
    pageOf(
      listModels(gateway.hosts.catalog, viewerOf(gateway, request)),
      request.query as Readonly<Record<string, unknown>>,
    );
}

export function getModelInfo({ gateway }: ServerContext): Handler {
  return async (request) => modelInfo(gateway, viewerOf(gateway, request));
}

function modelInfo({ config, hosts }: ServerContext['gateway'], viewer: Viewer) {
  const searchPrices: Charging['searchPrices'] = (factor, mode) =>
    shownSearchPrices(config, factor, mode);
  const isSearchLive = hosts.searchers.live !== null;
  const charging = { providers: config.providers, searchPrices, isSearchLive };
  return listModelInfo(hosts.catalog, viewer, charging);
}

/** Returns the models and prices for everybody, and when models end. */
export function publicPrices({ gateway }: ServerContext) {
  const viewer = viewerOf(gateway, { apiKey: null });
  const { data } = listModels(gateway.hosts.catalog, viewer);
  const ends = new Map(
    data.flatMap(({ id, retires_at: at, ended }) =>
      at === undefined ? [] : [[id, `${ended ? 'ended on' : 'until'} ${at.slice(0, 10)}`]],
    ),
  );
  return { ...modelInfo(gateway, viewer), endOf: (id: string) => ends.get(id) };
}

export function getModel(context: ServerContext): Handler {
  return async (request) => findListed(context, request);
}

/** Returns the model that the path names. Throws ApiError 404. */
export function findListed({ gateway }: ServerContext, request: FastifyRequest) {
  const name = (request.params as Record<'*', string>)['*'];
  const viewer = viewerOf(gateway, request);
  const { catalog } = gateway.hosts;
  const named = catalog.resolve(name) ?? catalog.images.resolve(name);
  if (named?.retirement?.isEnded) throw modelEnded(named);
  const entry = modelEntry(gateway.hosts.catalog, viewer, name);
  if (entry) return entry;
  const ids = listModels(gateway.hosts.catalog, viewer).data.map(({ id }) => id);
  throw modelNotFound(name, nearestModelId(name, ids));
}

/** Returns all models that the caller may see. */
export function listedHere({ gateway }: ServerContext, request: FastifyRequest) {
  return listModels(gateway.hosts.catalog, viewerOf(gateway, request)).data;
}

/** Returns for whom the catalogue is shown. Without a key: the live models, at list prices. */
function viewerOf(
  { config, clock }: ServerContext['gateway'],
  { apiKey }: Pick<FastifyRequest, 'apiKey'>,
): Viewer {
  return {
    mode: apiKey?.mode ?? 'live',
    models: apiKey?.models ?? null,
    markup: config.pricing.markup,
    multiplierPpmOf: (modelId) => (apiKey ? multiplierPpmFor(apiKey, modelId) : listPricePpm),
    nowMs: clock.nowMs(),
  };
}
