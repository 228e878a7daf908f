// The catalogue over HTTP: which models there are for this caller, and at what price.
import type { FastifyRequest } from 'fastify';
import { listModelInfo, listModels, modelEntry, type Viewer } from '../catalog/listing.ts';
import { modelNotFound } from '../gateway/route.ts';
import { multiplierPpmFor } from '../keys/api-key.ts';
import type { Handler, ServerContext } from './context.ts';

export function getModels({ gateway }: ServerContext): Handler {
  return async (request) => listModels(gateway.catalog, viewerOf(gateway, request));
}

export function getModelInfo({ gateway }: ServerContext): Handler {
  return async (request) => listModelInfo(gateway.catalog, viewerOf(gateway, request));
}

export function getModel({ gateway }: ServerContext): Handler {
  return async (request) => {
    const name = (request.params as Record<'*', string>)['*'];
    const entry = modelEntry(gateway.catalog, viewerOf(gateway, request), name);
    if (!entry) throw modelNotFound(name);
    return entry;
  };
}

/** Without a key: the models that are live, at list prices. */
function viewerOf({ config, clock }: ServerContext['gateway'], { apiKey }: FastifyRequest): Viewer {
  return {
    mode: apiKey?.mode ?? 'live',
    models: apiKey?.models ?? null,
    markup: config.pricing.markup,
    multiplierPpmOf: (modelId) => (apiKey ? multiplierPpmFor(apiKey, modelId) : listPricePpm),
    nowMs: clock.nowMs(),
  };
}

const listPricePpm = 1_000_000;
