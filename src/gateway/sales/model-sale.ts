// Sells a model's answer in one of the wire formats.
import { invalidRequest } from '../../canonical/errors.ts';
import { noUsage } from '../../canonical/usage.ts';
import { passedPrice, priceFor, type AppliedPrice } from '../../domain/catalog/price.ts';
import type { Prompt } from '../../domain/telemetry/content.ts';
import type { AnswerContext, ClientFormat, ClientRequest } from '../../formats/format.ts';
import { hostedTools, upstreamFormats } from '../../formats/registry.ts';
import { withCost } from '../../formats/shown-usage.ts';
import { isObject } from '../../lib/json.ts';
import { beyondAnyContext } from '../../lib/document-tokens.ts';
import { findModel } from '../admission/permitted-model.ts';
import { sendAnswer } from '../answering/answer.ts';
import { emptyContextOf, errorContextOf } from '../answering/head.ts';
import { streamAnswer } from '../answering/stream.ts';
import { timeoutsFor } from '../calling/timeouts.ts';
import type { Client, Headers } from '../client.ts';
import { offerModel } from '../charging/model-offer.ts';
import type { Offer } from '../charging/offer.ts';
import { conversationOf } from '../routing/conversation.ts';
import { drawingRightsOf } from '../routing/own-images.ts';
import { ownKeyTermsOf, priceFactorFor } from '../routing/price-factor.ts';
import { RoutePlan } from '../routing/plan.ts';
import { findRoutes, modelNotFound, passedRoute, type ChosenRoute } from '../routing/route.ts';
import type { ModelRequest } from '../routing/write-request.ts';
import { retirementHeaders } from '../retirement.ts';
import type { Accepted, Endpoint } from '../stages.ts';
import { estimateInput } from '../models/input-estimate.ts';
import { promptOnly } from './units.ts';
import { refuseSound } from '../models/refuse-sound.ts';

export function modelEndpoint(format: ClientFormat): Endpoint {
  return (gateway, { caller, body, forwardable, sessionId, passed }) => {
    const { requestId, key, record } = caller;
    const request = format.parseRequest(body, {
      chatMaxTokens: gateway.config.limits.chat_max_tokens,
    });
    record.note({ askedModel: request.model });
    const model = findModel(gateway, key, request.model);
    const found = findRoutes(gateway.hosts, {
      model,
      mode: key.mode,
      clientFormat: format.name,
      ownKeys: key.ownKeys,
      body: request.body,
    });
    const routes = passed ? ([passedRoute(passed, found, model)] as const) : found;
    // By rank, so the first route is the same for every such request.
    const [first] = routes;
    const asksForImages = (hostedTools[format.name].readImages?.(request) ?? null) !== null;
    const emptyContext = () =>
      emptyContextOf({ gateway, caller: { requestId }, asked: { model, request } });
    return {
      modelId: model.id,
      provider: first.name.provider,
      route:
        `${first.name.provider} ${first.format} ${first.upstreamModel}` +
        (asksForImages ? ` draws ${drawingRightsOf(key)}` : ''),
      stream: request.stream,
      headers: retirementHeaders(model.retirement),
      isCachedUnasked: temperatureOf(request) === 0,
      body: request.given ?? request.body,
      content: {
        asked: () => readConversation(format, request),
        answerFormat: format.answerReader ?? upstreamFormats[format.name],
      },
      estimate() {
        const estimate = estimateInput(request, { model, routes });
        let conversation: string | null = null;
        const asked: ModelRequest = {
          gateway,
          key,
          model,
          format,
          request,
          estimate,
          forwardable,
          sessionId,
          conversation: () => (conversation ??= conversationOf(asked)),
          passed,
        };
        return {
          tokens: estimate.likely + outputTokensToTake(asked),
          offer: (accepted) => offerAnswer(accepted, asked, routes),
        };
      },
      ...(format.openingKeepAlive !== undefined && {
        opening: {
          keepAlive: format.openingKeepAlive,
          headers: { ...(format.streamType && { 'content-type': format.streamType }) },
        },
      }),
      writeFailure(error) {
        return format
          .writeStream(emptyContext())
          .fail(error, errorContextOf({ gateway, caller: { requestId } }));
      },
      ...(request.isWarmUp && {
        answerUnrun: (client, headers) =>
          answerWarmUp(
            client,
            { ...headers, [gateway.headers.cost]: '0' },
            { format, context: emptyContext() },
          ),
      }),
    };
  };
}

/**
 * Answers a warm-up: a request that nothing is generated for (`generate: false`). It gets an empty answer
 * with an id, of which the next request may say that it follows.
 */
function answerWarmUp(
  client: Client,
  headers: Headers,
  { format, context }: { readonly format: ClientFormat; readonly context: AnswerContext },
): void {
  const stop = { reason: 'end', sequence: null } as const;
  if (!context.request.stream) {
    const body = format.writeAnswer({ content: [], stop, usage: noUsage }, context);
    client.sendAnswer(JSON.stringify({ ...body, usage: withCost(body.usage, 0) }), headers);
    return;
  }
  const pipe = format.writeStream(context);
  const begin = pipe.push({ type: 'start', usage: null });
  const frames = begin + pipe.push({ type: 'finish', stop, usage: noUsage }) + pipe.close(0);
  client.startStream(headers, []).end(frames, {});
}

/**
 * Returns the output tokens to take from the rate limit: at most a stream's first slice, whatever
 * limit the client sends. Agents always send the model's maximum and use a hundredth of it;
 * counting it would make them wait for tokens that nobody uses.
 */
function outputTokensToTake({ gateway: { config }, request, model }: ModelRequest): number {
  const named = request.maxOutputTokens ?? config.limits.default_max_output_tokens;
  return Math.min(named, model.maxOutputTokens, config.limits.hold_slice_tokens) * request.choices;
}

/** Refuses what no route accepts, before anything is held. */
function offerAnswer(
  accepted: Accepted,
  asked: ModelRequest,
  routes: readonly [ChosenRoute, ...ChosenRoute[]],
): Offer {
  const { key, model, request, estimate } = asked;
  const { gateway } = accepted;
  const factor = priceFactorFor(gateway, key, model.id);
  const nowMs = gateway.clock.nowMs();
  const listed = priceFor(model, { ...factor, nowMs });
  if (!listed) throw modelNotFound(model.id);
  const price = asked.passed ? passedPrice(listed) : listed;
  requireSoldTier(asked, price);
  refuseSound(asked);
  // Time for a whole answer, and for another after a call that failed late.
  const untilMs = nowMs + 2 * totalMsOf(asked, routes[0]);
  const allowed = { tier: request.tier, fromMs: nowMs, untilMs };
  const hasOwnKey = routes.some(({ name }) => name.ownKeyId !== undefined);
  const tokenPrice = { ...price, allowed, ...(hasOwnKey && { ownKey: ownKeyTermsOf(gateway) }) };
  const plan = new RoutePlan(asked, { routes, tokenPrice, factor });
  const { firstRoute } = plan;
  const wanted = {
    ...asked,
    ...plan.highest,
    inputTokensUpper: Math.min(estimate.upper, model.contextTokens * (request.prompts ?? 1)),
    isInputUnknown: estimate.upper >= beyondAnyContext || Boolean(plan.highest.tools?.readings),
    tokensPerSecond: gateway.hosts.routing.health.tokensPerSecond(
      firstRoute.name,
      request.stream ? 'stream' : 'whole',
    ),
    totalMs: totalMsOf(asked, firstRoute),
  };
  return offerModel(wanted, {
    plan,
    call(running, granted) {
      const held = { ...accepted, asked, running, plan, granted };
      return request.stream ? streamAnswer(held) : sendAnswer(held);
    },
  });
}

function totalMsOf(
  { model, request: { stream } }: ModelRequest,
  { provider }: ChosenRoute,
): number {
  return timeoutsFor(provider.timeouts, { model, stream }).total_ms;
}

/** Throws ApiError `invalid_request` for a tier without a price; it names those that have one. */
function requireSoldTier(
  { format, model, request: { tier } }: ModelRequest,
  { list }: AppliedPrice,
): void {
  const sold: readonly string[] = [
    'default',
    ...list.variants.flatMap((one) => (one.tier && one.tier !== 'batch' ? [one.tier] : [])),
  ];
  if (!tier || sold.includes(tier)) return;
  const field = format.fieldNames?.['service_tier'] ?? 'service_tier';
  const why = `the service tier \`${tier}\` is not sold for ${model.id}, only \`${sold.join('`, `')}\`; leave the field out for \`default\``;
  throw invalidRequest(field, `${field}: ${why}`);
}

/** Gemini's stands in an object of its own. */
function temperatureOf({ body }: ClientRequest): unknown {
  const { temperature, generationConfig: config } = body;
  return temperature ?? (isObject(config) ? config.temperature : undefined);
}

const conversationFields = [
  'messages',
  'system',
  'input',
  'instructions',
  'contents',
  'systemInstruction',
];

/**
 * Reads the conversation for a trace, whatever else the request asks for. A conversation that the
 * canonical request cannot express is returned as the JSON that it was.
 */
function readConversation(format: ClientFormat, request: ClientRequest): Prompt {
  const entries = Object.entries(request.body);
  const conversation = Object.fromEntries(
    entries.filter(([name]) => conversationFields.includes(name)),
  );
  const body = { model: request.model, ...conversation };
  try {
    return format.readRequest({ ...request, body });
  } catch {
    return promptOnly(JSON.stringify(conversation));
  }
}
