// A request for embeddings: input tokens at the model's price. Inputs beyond what a host takes in one
// call are split, and one charge covers all calls.
import { invalidRequest } from '../../canonical/errors.ts';
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Model } from '../../domain/catalog/model.ts';
import { atCost, priceFor, type AppliedPrice } from '../../domain/catalog/price.ts';
import {
  parseEmbeddingRequest,
  type EmbeddingRequest,
} from '../../domain/embeddings/embedding-request.ts';
import { estimateInputTokens, type InputEstimate } from '../../lib/tokens.ts';
import { encodeAs } from '../../providers/embeddings/vectors.ts';
import { findModel } from '../admission/permitted-model.ts';
import { callInOrder } from '../calling/call-route.ts';
import { nextStepAfter } from '../calling/retry-policy.ts';
import { toModelError } from '../calling/failure-message.ts';
import {
  embedAt,
  embeddingRoutes,
  type EmbeddingRoute,
  type EmbeddedAt,
} from '../tasks/embed-at.ts';
import { writeNames } from '../headers.ts';
import type { Gateway } from '../gateway.ts';
import type { Caller } from '../request.ts';
import { retirementHeaders } from '../retirement-headers.ts';
import { priceFactorFor } from '../routing/price-factor.ts';
import { modelNotFound } from '../routing/route.ts';
import type { Endpoint } from '../stages.ts';
import { saleOfUnits, type Delivery, type SaleSignals, type UnitPrice } from './units.ts';

/** Throws ApiError 400 or 404. */
export const embeddingEndpoint: Endpoint = (gateway, { body, caller }) => {
  const { key, record } = caller;
  const request = parseEmbeddingRequest(body);
  record.note({ askedModel: request.model });
  const model = findModel(gateway, key, request.model, 'embedding');
  checkSize(request, model);
  const routes = embeddingRoutes(gateway, { model, key, request });
  const [{ route: first }] = routes;
  const { provider, upstreamModel } = first;
  const estimate = estimateOf(request, model);
  const facts = {
    modelId: model.id,
    provider,
    route: `${provider} ${upstreamModel}`,
    headers: retirementHeaders(model.retirement),
    body: request.body,
    prompt: () => request.inputs.filter((input) => typeof input === 'string').join('\n'),
    tokens: estimate.likely,
    isCachedUnasked: gateway.config.cache.embeddings,
  };
  return saleOfUnits(facts, () => {
    const nowMs = gateway.clock.nowMs();
    const price = priceFor(model, { ...priceFactorFor(gateway, key, model.id), nowMs });
    if (!price) throw modelNotFound(model.id);
    const most = tokenPrice(price);
    const units = {
      endpoint: 'embeddings',
      modelName: model.displayName,
      unit: { one: 'input token', many: 'input tokens', counted: 'token' },
      count: estimate.upper,
      most,
      likelyPicos: most.upstreamPicos * BigInt(estimate.likely),
      countField: null,
    } as const;
    const asked = { gateway, caller, model, request, routes, price, tokensMax: estimate.most };
    return { units, deliver: (signals) => deliver(asked, signals) };
  });
};

/** Throws ApiError `invalid_request`. */
function checkSize({ dimensions: size }: EmbeddingRequest, { id, dimensions }: Model): void {
  if (size === null || !dimensions) return;
  const { min, max } = dimensions;
  if (size >= min && size <= max) return;
  const rule =
    min === max
      ? `must be ${max} or left out for ${id}, which has one size`
      : `must be a whole number from ${min} to ${max} for ${id}`;
  throw invalidRequest('dimensions', `dimensions ${rule}; got ${size}`);
}

/** A host refuses an input that is longer than the model takes, so it cannot bill more. */
function estimateOf({ inputs }: EmbeddingRequest, { maxInputTokens }: Model) {
  const texts = inputs.filter((input) => typeof input === 'string');
  const listed = inputs.reduce<number>(
    (sum, input) => sum + (typeof input === 'string' ? 0 : input.length),
    0,
  );
  const estimate: InputEstimate = estimateInputTokens(texts);
  const sumAs = (side: 'upper' | 'likely' | 'most') =>
    Math.min(estimate[side] + listed, maxInputTokens * inputs.length);
  return { upper: sumAs('upper'), likely: sumAs('likely'), most: sumAs('most') };
}

/** A token's price for the account and for the operator. */
function tokenPrice({ list, upstream }: AppliedPrice): UnitPrice {
  return {
    listPicos: BigInt(list.base.input),
    upstreamPicos: BigInt(upstream.base.input),
    version: list.version,
  };
}

type Asked = {
  readonly gateway: Gateway;
  readonly caller: Caller;
  readonly model: Model;
  readonly request: EmbeddingRequest;
  readonly routes: readonly [EmbeddingRoute, ...EmbeddingRoute[]];
  readonly price: AppliedPrice;
  /** No host can honestly count more. For hostile text it is more than what is held. */
  readonly tokensMax: number;
};

/** The account could cause it: a text is refused, or the answer is one that only the request explains. */
function isOfRequest(failure: UpstreamFailure): boolean {
  const isRefused = failure.kind === 'status' && nextStepAfter(failure) === 'never';
  return isRefused || failure.isCausedByAccount === true;
}

async function deliver(asked: Asked, signals: SaleSignals): Promise<Delivery> {
  const { gateway, caller, model, request, routes, price, tokensMax } = asked;
  const { hosts, clock } = gateway;
  const { record, key } = caller;
  let calls = 0;
  let lostPicos = 0n;
  let spoiledPicos = 0n;
  let [last] = routes;
  const priceAt = ({ chosen }: EmbeddingRoute) => tokenPrice(atCost(price, chosen.costPpm));
  const order = { routes, health: hosts.routing.health, isSearch: false, record, clock, signals };
  const made = await callInOrder<EmbeddingRoute, EmbeddedAt>(order, async (route, { trace }) => {
    const signal = signals.running;
    const { accountId } = key;
    const at = await embedAt(route, { gateway, model, request, accountId, trace, signal });
    calls += at.calls;
    const picos = priceAt(route).upstreamPicos * BigInt(at.lostTokens);
    // Who puts a text that is refused behind good ones would have those for nothing.
    if (at.failure && isOfRequest(at.failure)) spoiledPicos += picos;
    else lostPicos += picos;
    last = route;
    return at;
  });
  if (made.kind === 'failure')
    return {
      kind: 'failed',
      error: toModelError(made.failure, model, clock.nowMs()),
      lostPicos,
      spoiled: { provider: last.route.provider, calls, picos: spoiledPicos },
    };
  const { route, vectors, tokens, isEstimate } = made;
  const count = Math.min(tokens, tokensMax);
  const routePrice = priceAt(route);
  const beyond = BigInt(tokens - count) * routePrice.upstreamPicos;
  const unknown = route.host.ignores.filter((name) => (request.body[name] ?? null) !== null);
  const ignored = [...request.ignored, ...unknown];
  return {
    kind: 'delivered',
    count,
    price: routePrice,
    isEstimate,
    provider: route.route.provider,
    calls,
    isWhole: route === routes[0],
    body: {
      object: 'list',
      data: vectors.map((vector, index) => ({
        object: 'embedding',
        index,
        embedding: encodeAs(request.encoding, vector),
      })),
      model: model.id,
      usage: { prompt_tokens: count, total_tokens: count },
    },
    headers: ignored.length > 0 ? { [gateway.headers.ignored]: writeNames(ignored) } : {},
    usableForMs: null,
    lostPicos: lostPicos + beyond,
  };
}
