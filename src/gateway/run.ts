// The life of a charged request, whatever its wire format: every step in its order, on one screen.
// Authentication comes before the body is even read (server/middleware/authenticate.ts); docs/lifecycle.md draws the whole.
import { ApiError } from '../canonical/errors.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Model } from '../catalog/model.ts';
import { priceFor } from '../catalog/price.ts';
import { nameRequest } from '../idempotency/request-name.ts';
import { multiplierPpmFor, type ApiKey } from '../keys/api-key.ts';
import type { Admitted, IncomingRequest } from './admitted.ts';
import { sendAnswer } from './answer.ts';
import { nameForCache } from './cacheable.ts';
import type { Client } from './client.ts';
import type { Gateway } from './gateway.ts';
import { placeHold } from './hold.ts';
import type { Keeping } from './keeping.ts';
import { findRoutes, modelNotFound, providerNameOf } from './route.ts';
import { RoutePlan } from './route-plan.ts';
import { runOnce } from './run-once.ts';
import type { Running } from './running.ts';
import { nothingGenerated, releaseHold } from './settle.ts';
import { streamAnswer } from './stream.ts';
import { withinLimits, type WithinLimits } from './within-limits.ts';

/** Answers the client, or throws the ApiError to answer with. Either way nothing stays held. */
export async function run(gateway: Gateway, incoming: IncomingRequest, client: Client): Promise<void> {
  const { key, format, trace } = incoming;
  const request = format.parseRequest(incoming.body, { chatMaxTokens: gateway.config.limits.chat_max_tokens });
  const name = nameRequest({ ...incoming, keyId: key.id, generation: key.cacheGeneration });
  const model = findModel(gateway.catalog, key, request.model);
  const routes = findRoutes(gateway, { model, mode: key.mode, clientFormat: format.name });
  Object.assign(trace, { model: model.id, provider: providerNameOf(routes[0]), stream: request.stream });
  checkPermission(key, model);
  const cacheName = nameForCache({ ...incoming, gateway, request, model, routes });
  const rateHeaders = await gateway.rateLimits.takeRequest(key);
  const admitted = { ...incoming, gateway, name, cacheName, request, model, routes, rateHeaders };
  await runOnce(admitted, client, (answered, keeping) =>
    withinLimits(admitted, (within) => execute({ ...admitted, ...within }, answered, keeping)),
  );
}

/** Holds, calls, answers, charges. */
async function execute(admitted: Admitted & WithinLimits, client: Client, keeping: Keeping): Promise<void> {
  const { gateway, requestId, key, format, trace, request, model, routes, rateHeaders, forwardable, estimate } = admitted;
  const factor = { markup: gateway.config.pricing.markup, multiplierPpm: multiplierPpmFor(key, model.id) };
  const tokenPrice = priceFor(model, { ...factor, nowMs: gateway.nowMs() });
  if (!tokenPrice) throw modelNotFound(model.id);
  const inputTokensUpper = Math.min(estimate.upper, model.contextTokens);
  const asked = { gateway, client, trace, key, model, format, request, estimate, forwardable };
  // What no route can be sent is refused here, before anything is held for it.
  const plan = new RoutePlan(asked, { routes, tokenPrice, factor });

  const wanted = { requestId, key, model, request, inputTokensUpper, limitField: format.outputLimitField, ...plan.dearest };
  const hold = await placeHold(gateway, wanted);
  trace.holdMicros = hold.amountMicros;
  const controller = gateway.runs.open();
  const running: Running = {
    ...asked,
    plan,
    attempt: plan.first,
    hold,
    rateHeaders,
    controller,
    keeping,
    requestId,
    isForsaken: false,
    isResolved: false,
  };
  try {
    await (request.stream ? streamAnswer(running) : sendAnswer(running));
  } catch (error) {
    // Every expected end resolves its hold; this is for the unexpected.
    if (!running.isResolved) await releaseHold(running, nothingGenerated);
    throw error;
  } finally {
    gateway.runs.close(controller);
  }
}

function findModel(catalog: Catalog, key: ApiKey, name: string): Model {
  const model = catalog.resolve(name);
  if (!model) throw modelNotFound(name);
  return model;
}

function checkPermission(key: ApiKey, model: Model): void {
  if (key.accountFrozen) throw new ApiError('account_frozen', 'This account is frozen. Contact the operator of this service.');
  if (key.models && !key.models.has(model.id)) {
    throw new ApiError(
      'model_not_allowed_for_key',
      `This key may not use the model '${model.id}'. GET /v1/models lists the models it may.`,
      {
        param: 'model',
      },
    );
  }
}
