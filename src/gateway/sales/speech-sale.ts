// A request for speech: characters at the model's price, or the provider's tokens. The audio is passed on
// as it comes.
import type { Model } from '../../domain/catalog/model.ts';
import { atCost, priceFor, type AppliedPrice } from '../../domain/catalog/price.ts';
import { parseSpeechRequest, type SpeechRequest } from '../../domain/speech/speech-request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { formatSse } from '../../lib/sse.ts';
import { estimateInputTokens } from '../../lib/tokens.ts';
import { utf8Length } from '../../lib/tokens-from-bytes.ts';
import type { SpeechCount } from '../../providers/speech/host.ts';
import { speechFormats } from '../../terms/speech.ts';
import { findModel } from '../admission/permitted-model.ts';
import { callInOrder } from '../calling/call-route.ts';
import { toModelError } from '../calling/failure-message.ts';
import type { Running } from '../charging/offer.ts';
import type { Headers } from '../client.ts';
import { writeNames } from '../headers.ts';
import { retirementHeaders } from '../retirement-headers.ts';
import { priceFactorFor } from '../routing/price-factor.ts';
import { modelNotFound } from '../routing/route.ts';
import type { Accepted, Endpoint } from '../stages.ts';
import { speakAt, speechRoutes, type SpeechRoute, type SpokenAt } from '../tasks/speak-at.ts';
import { eventsType, UnitStream, writeFailure } from './unit-stream.ts';
import { saleOfUnits, type Delivery, type SaleSignals, type UnitPrice } from './units.ts';

/** Throws ApiError 400 or 404. */
export const speechEndpoint: Endpoint = (gateway, { body, caller }) => {
  const { key, record } = caller;
  const request = parseSpeechRequest(body);
  record.note({ askedModel: request.model });
  const model = findModel(gateway, key, request.model, 'speech');
  const routes = speechRoutes(gateway, { model, key, request });
  const { provider, upstreamModel } = routes[0].chosen.name;
  const estimate = estimateOf(request);
  const facts = {
    modelId: model.id,
    provider,
    route: `${provider} ${upstreamModel}`,
    headers: retirementHeaders(model.retirement),
    body: request.body,
    prompt: () => request.input,
    tokens: estimate.likely.inputTokens + estimate.likely.outputTokens,
    ...(request.isEvents && { writeFailure: (error) => writeFailure({ gateway, caller }, error) }),
  } satisfies Parameters<typeof saleOfUnits>[0];
  return saleOfUnits(facts, (accepted) => {
    const nowMs = gateway.clock.nowMs();
    const price = priceFor(model, { ...priceFactorFor(gateway, key, model.id), nowMs });
    if (!price) throw modelNotFound(model.id);
    const asked = { accepted, model, request, routes, price, estimate };
    const units = {
      endpoint: 'speech',
      modelName: model.displayName,
      unit: { one: 'character', many: 'characters', counted: null },
      count: request.characters,
      most: highestPrice(asked),
      likelyPicos: likelyCost(asked, routes[0]),
      countField: null,
    } as const;
    return { units, deliver: (signals, held) => deliver(asked, { signals, held }) };
  });
};

/**
 * Recorded voices speak 12 to 18 characters a second, at 21 to 50 tokens a second. Digits and slow speech
 * take several times as long.
 */
const tokensPerCharacter = { likely: 2, most: 10 };
/** For a text so short that its silence counts. */
const leastTokens = 100;

type Estimate = { readonly likely: SpeechCount; readonly most: SpeechCount };

function estimateOf({ input, instructions, characters, speed }: SpeechRequest): Estimate {
  const { upper, likely } = estimateInputTokens([input, instructions ?? '']);
  const slowness = 1 / Math.min(speed ?? 1, 1);
  // A syllable of other scripts is one character of several bytes.
  const bytes = utf8Length(input);
  const most = Math.ceil((tokensPerCharacter.most * bytes * slowness) / characters) * characters;
  return {
    likely: {
      inputTokens: likely,
      outputTokens: Math.ceil(tokensPerCharacter.likely * bytes * slowness),
    },
    most: { inputTokens: upper, outputTokens: most + leastTokens },
  };
}

type Asked = {
  readonly accepted: Accepted;
  readonly model: Model;
  readonly request: SpeechRequest;
  readonly routes: readonly [SpeechRoute, ...SpeechRoute[]];
  readonly price: AppliedPrice;
  readonly estimate: Estimate;
};

/** A model without a price for a character is billed by tokens. */
function isByTokens({ list }: AppliedPrice): boolean {
  return list.unit === undefined;
}

/** The price of a character. Of a model billed by tokens: of the most tokens that it can have. */
function highestPrice({ price, request, estimate: { most } }: Asked): UnitPrice {
  if (!isByTokens(price)) return characterPrice(price);
  const { list, upstream } = price;
  const outputTokens = (most.outputTokens - leastTokens) / request.characters;
  const perCharacter = { inputTokens: 0, outputTokens };
  const beside = { inputTokens: most.inputTokens, outputTokens: leastTokens };
  return {
    listPicos: tokenCost(list, perCharacter),
    upstreamPicos: tokenCost(upstream, perCharacter),
    request: { listPicos: tokenCost(list, beside), upstreamPicos: tokenCost(upstream, beside) },
    version: list.version,
  };
}

function characterPrice({ list, upstream }: AppliedPrice): UnitPrice {
  const { unit: listPicos = 0n, version } = list;
  const { unit: upstreamPicos = 0n } = upstream;
  return { listPicos, upstreamPicos, version };
}

function tokenCost({ base }: AppliedPrice['list'], count: SpeechCount): bigint {
  return (
    BigInt(count.inputTokens) * BigInt(base.input) +
    BigInt(count.outputTokens) * BigInt(base.output)
  );
}

/** What the operator probably pays there. */
function likelyCost({ price, request, estimate }: Asked, { chosen }: SpeechRoute): bigint {
  const { upstream } = atCost(price, chosen.costPpm);
  return isByTokens(price)
    ? tokenCost(upstream, estimate.likely)
    : (upstream.unit ?? 0n) * BigInt(request.characters);
}

type Delivering = { readonly signals: SaleSignals; readonly held: Running };

/**
 * Providers drop readers that are this slow. What they have got is charged as if it were all: else most
 * of it would be free. It is not the route's fault.
 */
const slowReadMs = 10_000;

async function deliver(asked: Asked, { signals, held }: Delivering): Promise<Delivery> {
  const { accepted, model, request, routes, price } = asked;
  const { gateway, caller } = accepted;
  const { hosts, clock, headers, runs } = gateway;
  const { record } = caller;
  const { isEvents } = request;
  const stream = new UnitStream({ accepted, held, isEvents });
  let calls = 0;
  let lostPicos = 0n;
  const health = hosts.routing.health;
  const order = { routes, health, isSearch: false, isStream: true, record, clock, signals };
  const made = await callInOrder<SpeechRoute, SpokenAt>(
    order,
    async (route, call, { noteFirstByte }) => {
      calls += 1;
      const about = {
        'content-type': isEvents ? eventsType : speechFormats[route.format],
        ...ignoredHeader(asked, route),
        [headers.route]: route.route.provider,
        [headers.attempts]: String(calls),
      };
      const { trace } = call;
      const { running: signal } = signals;
      const toSpeak = { gateway, model, request, isByTokens: isByTokens(price), trace, signal };
      const at = await speakAt(route, toSpeak, (audio) => {
        noteFirstByte();
        return stream.write(isEvents ? deltasOf(audio) : [audio], about);
      });
      if (at.kind === 'broken' && stream.clientWaitMs >= slowReadMs && !runs.isEnding) {
        stream.isCut = true;
        return { kind: 'spoken', route, count: null };
      }
      if (at.kind !== 'spoken' && at.mayBeBilled) lostPicos += likelyCost(asked, route);
      return at;
    },
  );
  const { route } = made;
  if (made.kind !== 'spoken')
    return {
      kind: 'failed',
      error: toModelError(made.failure, model, clock.nowMs()),
      lostPicos,
      ...(made.kind === 'broken' && { begun: stream }),
    };
  const sold = soldAt(asked, route, made.count);
  if (isEvents) stream.lastFrame = (cost) => doneFrame({ ...sold.usage, cost });
  return {
    kind: 'delivered',
    count: request.characters,
    price: sold.price,
    isEstimate: sold.isEstimate,
    provider: route.route.provider,
    calls,
    isWhole: route === routes[0] && !stream.isCut,
    begun: stream,
    headers: ignoredHeader(asked, route),
    usableForMs: null,
    lostPicos: lostPicos + sold.beyondPicos,
  };
}

/** `reported`: null when the provider counts nothing. More than was held is the operator's loss. */
function soldAt(
  { price, estimate: { likely, most } }: Asked,
  { chosen }: SpeechRoute,
  reported: SpeechCount | null,
) {
  const applied = atCost(price, chosen.costPpm);
  if (!isByTokens(price)) {
    const usage = writeUsage({ inputTokens: 0, outputTokens: 0 });
    return { price: characterPrice(applied), usage, isEstimate: false, beyondPicos: 0n };
  }
  const { list, upstream } = applied;
  const isEstimate = !reported || reported.outputTokens === 0;
  const counted = isEstimate ? likely : reported;
  const inputTokens = Math.min(counted.inputTokens, most.inputTokens);
  const outputTokens = Math.min(counted.outputTokens, most.outputTokens);
  const count = { inputTokens, outputTokens };
  const tokens = { count, list: list.base, upstream: upstream.base };
  return {
    price: { listPicos: 0n, upstreamPicos: 0n, tokens, version: list.version },
    usage: writeUsage(count),
    isEstimate,
    beyondPicos: tokenCost(upstream, counted) - tokenCost(upstream, count),
  };
}

function writeUsage({ inputTokens, outputTokens }: SpeechCount): JsonObject {
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

function ignoredHeader(
  { accepted: { gateway }, request }: Asked,
  { host: { ignores } }: SpeechRoute,
): Headers {
  const unknown = ignores.filter((name) => request[name] !== null);
  const names = [...request.ignored, ...unknown];
  return names.length > 0 ? { [gateway.headers.ignored]: writeNames(names) } : {};
}

/** Whole groups of three bytes, so that the pieces of base64 can be joined. */
const deltaBytes = 48 * 1024;

function* deltasOf(audio: Buffer): Generator<Buffer> {
  for (let start = 0; start < audio.length; start += deltaBytes) {
    const piece = audio.subarray(start, start + deltaBytes).toString('base64');
    yield Buffer.from(
      formatSse(null, JSON.stringify({ type: 'speech.audio.delta', audio: piece })),
    );
  }
}

function doneFrame(usage: JsonObject): string {
  return formatSse(null, JSON.stringify({ type: 'speech.audio.done', usage }));
}
