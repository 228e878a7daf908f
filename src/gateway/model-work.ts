// A request for a model's answer, in one of the three wire formats: what it asks for, and its run from the hold to the charge.
import type { ApiError } from '../canonical/errors.ts';
import type { Model } from '../catalog/model.ts';
import { priceFor } from '../catalog/price.ts';
import type { ClientFormat, ClientRequest } from '../formats/format.ts';
import { multiplierPpmFor } from '../keys/api-key.ts';
import type { InputEstimate } from '../lib/tokens.ts';
import type { Admitted, IncomingRequest } from './admitted.ts';
import { sendAnswer } from './answer.ts';
import type { Client } from './client.ts';
import type { Endpoint, Work } from './endpoint.ts';
import type { Gateway } from './gateway.ts';
import { placeHold } from './hold.ts';
import { estimateInput } from './input-estimate.ts';
import type { Keeping } from './keeping.ts';
import { findModel } from './permitted-model.ts';
import { findRoutes, modelNotFound, providerNameOf, type ChosenRoute } from './route.ts';
import { RoutePlan } from './route-plan.ts';
import type { Running } from './running.ts';
import { releaseHold } from './settle.ts';
import { streamAnswer } from './stream.ts';
import { UnseenOutput } from './unseen-output.ts';

export function modelEndpoint(format: ClientFormat): Endpoint {
  return (gateway, incoming) => {
    const request = format.parseRequest(incoming.body, { chatMaxTokens: gateway.config.limits.chat_max_tokens });
    const model = findModel(gateway.catalog, request.model);
    const routes = findRoutes(gateway, { model, mode: incoming.key.mode, clientFormat: format.name });
    return new ModelWork({ gateway, incoming, format, request, model, routes });
  };
}

type ModelRequest = {
  readonly gateway: Gateway;
  readonly incoming: IncomingRequest;
  readonly format: ClientFormat;
  readonly request: ClientRequest;
  readonly model: Model;
  /** By rank: the first one is the same for every such request. */
  readonly routes: readonly [ChosenRoute, ...ChosenRoute[]];
};

class ModelWork implements Work {
  readonly modelId: string;
  readonly provider: string;
  readonly route: string;
  readonly stream: boolean;
  readonly isCachedUnasked: boolean;
  readonly body: ClientRequest['body'];
  readonly #asked: ModelRequest;
  #estimate: InputEstimate | null = null;

  constructor(asked: ModelRequest) {
    this.#asked = asked;
    this.modelId = asked.model.id;
    this.provider = providerNameOf(asked.routes[0]);
    this.route = routeText(asked.routes[0]);
    this.stream = asked.request.stream;
    this.body = asked.request.body;
    this.isCachedUnasked = this.body['temperature'] === 0;
  }

  countTokens(): number {
    this.#estimate = estimateInput(this.body, this.#asked);
    return this.#estimate.likely + outputTokensToTake(this.#asked);
  }

  async execute(admitted: Admitted, client: Client, keeping: Keeping): Promise<void> {
    const { gateway, format, request, model, routes } = this.#asked;
    const { requestId, key, trace, rateHeaders, forwardable } = admitted;
    const factor = { markup: gateway.config.pricing.markup, multiplierPpm: multiplierPpmFor(key, model.id) };
    const tokenPrice = priceFor(model, { ...factor, nowMs: gateway.clock.nowMs() });
    if (!tokenPrice) throw modelNotFound(model.id);
    const estimate = this.#estimate ?? estimateInput(this.body, this.#asked);
    const inputTokensUpper = Math.min(estimate.upper, model.contextTokens);
    const asked = { gateway, client, trace, key, model, format, request, estimate, forwardable };
    // What no route can be sent is refused here, before anything is held for it.
    const plan = new RoutePlan(asked, { routes, tokenPrice, factor });

    const limitField = format.outputLimitField;
    const inputTokensLikely = estimate.likely;
    const wanted = { requestId, key, model, request, inputTokensUpper, inputTokensLikely, limitField, ...plan.dearest };
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
      unseen: new UnseenOutput(gateway.clock, request),
      requestId,
      isForsaken: false,
      isResolved: false,
    };
    try {
      await (request.stream ? streamAnswer(running) : sendAnswer(running));
    } catch (error) {
      // Every expected end resolves its hold; this is for the unexpected.
      if (!running.isResolved) await releaseHold(running, null);
      throw error;
    } finally {
      gateway.runs.close(controller);
    }
  }

  writeFailure(error: ApiError): string {
    const { gateway, incoming, format, request, model } = this.#asked;
    const pipe = format.writeStream({
      requestId: incoming.requestId.slice('req_'.length),
      model: model.id,
      createdAtSeconds: Math.floor(gateway.clock.nowMs() / 1_000),
      request,
      estimatedInputTokens: 0,
    });
    return pipe.fail(error, incoming.requestId);
  }
}

/**
 * No more than a stream's first slice, whatever limit the client names: agents always name the model's whole, use a hundredth of it, and
 * would wait for a minute that nobody has used.
 */
function outputTokensToTake({ gateway: { config }, request, model }: ModelRequest): number {
  const named = request.maxOutputTokens ?? config.limits.default_max_output_tokens;
  return Math.min(named, model.maxOutputTokens, config.limits.hold_slice_tokens) * request.choices;
}

function routeText(route: ChosenRoute): string {
  return route.transport === 'http' ? `${route.provider.name} ${route.format} ${route.upstreamModel}` : 'sandbox';
}
