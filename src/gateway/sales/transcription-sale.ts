// A request for a transcription or a translation: seconds of audio at the model's price, or the
// provider's tokens. The hold follows our own reading of the file, the charge the provider's count.
import { invalidRequest } from '../../canonical/errors.ts';
import type { Model } from '../../domain/catalog/model.ts';
import { atCost, priceFor, type AppliedPrice } from '../../domain/catalog/price.ts';
import { writeSrt, writeVtt } from '../../domain/transcriptions/subtitles.ts';
import {
  parseTranscriptionRequest,
  type TranscriptionRequest,
} from '../../domain/transcriptions/transcription-request.ts';
import { mostSeconds } from '../../lib/audio-seconds.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { formatSse } from '../../lib/sse.ts';
import { estimateInputTokens } from '../../lib/tokens.ts';
import type { Upload } from '../../lib/upload.ts';
import type { TranscriptionUsage } from '../../providers/transcriptions/host.ts';
import type { TranscriptionTask } from '../../terms/transcription.ts';
import { findModel } from '../admission/permitted-model.ts';
import { callInOrder } from '../calling/call-route.ts';
import { toModelError } from '../calling/failure-message.ts';
import { makeFailure } from '../calling/failure.ts';
import type { Running } from '../charging/offer.ts';
import type { Headers } from '../client.ts';
import { writeNames } from '../headers.ts';
import { retirementHeaders } from '../retirement-headers.ts';
import { priceFactorFor } from '../routing/price-factor.ts';
import { modelNotFound } from '../routing/route.ts';
import type { Accepted, Endpoint } from '../stages.ts';
import {
  transcribeAt,
  transcriptionRoutes,
  type TranscribedAt,
  type TranscriptionRoute,
} from '../tasks/transcribe-at.ts';
import { eventsType, UnitStream, writeFailure } from './unit-stream.ts';
import { saleOfUnits, type Delivery, type SaleSignals, type UnitPrice } from './units.ts';

/** Throws ApiError 400 or 404. */
export function transcriptionEndpoint(task: TranscriptionTask): Endpoint {
  return (gateway, { body, caller, upload }) => {
    const { key, record } = caller;
    const request = parseTranscriptionRequest(body);
    if (!upload) throw invalidRequest('file', 'file must be the audio, as a file of the form');
    record.note({ askedModel: request.model });
    const model = findModel(gateway, key, request.model, 'transcription');
    const routes = transcriptionRoutes(gateway, { model, key, task });
    const { provider, upstreamModel } = routes[0].chosen.name;
    const audio = measure(upload, request, routes);
    const facts = {
      modelId: model.id,
      provider,
      route: `${provider} ${upstreamModel}`,
      headers: retirementHeaders(model.retirement),
      body: request.body,
      prompt: () => `(audio of ${audio.seconds} seconds)`,
      tokens: tokensPerSecond.likely * audio.seconds,
      ...(request.isEvents && {
        writeFailure: (error) => writeFailure({ gateway, caller }, error),
      }),
    } satisfies Parameters<typeof saleOfUnits>[0];
    return saleOfUnits(facts, (accepted) => {
      const nowMs = gateway.clock.nowMs();
      const price = priceFor(model, { ...priceFactorFor(gateway, key, model.id), nowMs });
      if (!price) throw modelNotFound(model.id);
      const asked = { accepted, model, task, request, upload, routes, price, audio };
      const units = {
        endpoint: 'transcriptions',
        modelName: model.displayName,
        unit: { one: 'second', many: 'seconds', counted: null },
        count: audio.heldSeconds,
        most: highestPrice(asked),
        likelyPicos: likelyCost(asked, routes[0]),
        countField: null,
      } as const;
      return { units, deliver: (signals, held) => deliver(asked, { signals, held }) };
    });
  };
}

/** Recordings have 10 input tokens a second. Speech is at most 16 tokens a second; speakers cost more. */
const tokensPerSecond = { likely: 14, input: 12, output: 16, outputWithSpeakers: 64 };
/** For audio so short that an answer's frame counts. */
const leastTokens = 100;

type Audio = {
  /** Our own reading, rounded up. */
  readonly seconds: number;
  readonly heldSeconds: number;
  /** The most that the file can have, however its header lies. */
  readonly secondsMax: number;
  readonly promptTokens: number;
  readonly outputPerSecond: number;
};

function measure(
  upload: Upload,
  { format, fields }: TranscriptionRequest,
  routes: readonly TranscriptionRoute[],
): Audio {
  const bytesSeconds = Math.ceil(mostSeconds(upload));
  const seconds = Math.ceil(upload.seconds ?? bytesSeconds);
  const heldSeconds = Math.max(seconds, ...routes.map(secondsMinAt));
  return {
    seconds,
    heldSeconds,
    secondsMax: Math.max(heldSeconds, bytesSeconds),
    promptTokens: estimateInputTokens(fields).upper,
    outputPerSecond:
      format === 'diarized_json' ? tokensPerSecond.outputWithSpeakers : tokensPerSecond.output,
  };
}

function secondsMinAt({ chosen }: TranscriptionRoute): number {
  return chosen.provider.wishes.transcription?.secondsMin ?? 0;
}

type Asked = {
  readonly accepted: Accepted;
  readonly model: Model;
  readonly task: TranscriptionTask;
  readonly request: TranscriptionRequest;
  readonly upload: Upload;
  readonly routes: readonly [TranscriptionRoute, ...TranscriptionRoute[]];
  readonly price: AppliedPrice;
  readonly audio: Audio;
};

type Count = { readonly inputTokens: number; readonly outputTokens: number };

/** A model without a price for a second is billed by tokens. */
function isByTokens({ list }: AppliedPrice): boolean {
  return list.unit === undefined;
}

/** The price of a second. Of a model billed by tokens: of the most tokens that it can have. */
function highestPrice({ price, audio }: Asked): UnitPrice {
  if (!isByTokens(price)) return secondPrice(price);
  const { list, upstream } = price;
  const perSecond = { inputTokens: tokensPerSecond.input, outputTokens: audio.outputPerSecond };
  const beside = { inputTokens: audio.promptTokens, outputTokens: leastTokens };
  return {
    listPicos: tokenCost(list, perSecond),
    upstreamPicos: tokenCost(upstream, perSecond),
    request: { listPicos: tokenCost(list, beside), upstreamPicos: tokenCost(upstream, beside) },
    version: list.version,
  };
}

function secondPrice({ list, upstream }: AppliedPrice): UnitPrice {
  const { unit: listPicos = 0n, version } = list;
  const { unit: upstreamPicos = 0n } = upstream;
  return { listPicos, upstreamPicos, version };
}

function tokenCost({ base }: AppliedPrice['list'], count: Count): bigint {
  return (
    BigInt(count.inputTokens) * BigInt(base.input) +
    BigInt(count.outputTokens) * BigInt(base.output)
  );
}

/** What the operator probably pays there. */
function likelyCost({ price, audio: { seconds } }: Asked, { chosen }: TranscriptionRoute): bigint {
  const { upstream } = atCost(price, chosen.costPpm);
  return isByTokens(price)
    ? tokenCost(upstream, likelyTokens(seconds))
    : (upstream.unit ?? 0n) * BigInt(seconds);
}

function likelyTokens(seconds: number): Count {
  return { inputTokens: 10 * seconds, outputTokens: 4 * seconds };
}

type Delivering = { readonly signals: SaleSignals; readonly held: Running };

async function deliver(asked: Asked, { signals, held }: Delivering): Promise<Delivery> {
  const { accepted, model, task, request, upload, routes, price, audio } = asked;
  const { gateway, caller } = accepted;
  const { hosts, clock, headers } = gateway;
  const { isEvents, format } = request;
  const stream = new UnitStream({ accepted, held, isEvents });
  let calls = 0;
  let lostPicos = 0n;
  const { health } = hosts.routing;
  const { record } = caller;
  const order = { routes, health, isSearch: false, isStream: isEvents, record, clock, signals };
  const aboutRoute = (route: TranscriptionRoute) => ({
    'content-type': eventsType,
    ...ignoredHeader(asked, route),
    [headers.route]: route.route.provider,
    [headers.attempts]: String(calls),
  });
  const made = await callInOrder<TranscriptionRoute, TranscribedAt>(
    order,
    async (route, { trace }, { noteFirstByte }) => {
      calls += 1;
      const signal = signals.running;
      const { seconds } = audio;
      const sent = { gateway, model, task, request, upload, seconds, trace, signal };
      const at = await transcribeAt(route, { ...sent, isByTokens: isByTokens(price) }, (event) => {
        noteFirstByte();
        return stream.write([frame(event)], aboutRoute(route));
      });
      const lacksTimes =
        at.kind === 'transcribed' && isSubtitles(format) && at.transcript.segments === null;
      const result = lacksTimes
        ? { kind: 'failure' as const, route, failure: noTimes, mayBeBilled: true }
        : at;
      if (result.kind !== 'transcribed' && result.mayBeBilled)
        lostPicos += likelyCost(asked, route);
      return result;
    },
  );
  const { route } = made;
  if (made.kind !== 'transcribed')
    return {
      kind: 'failed',
      error: toModelError(made.failure, model, clock.nowMs()),
      lostPicos,
      ...(made.kind === 'broken' && { begun: stream }),
    };
  const { body, transcript } = made;
  const sold = soldAt(asked, route, transcript.usage);
  const common = {
    kind: 'delivered',
    count: sold.seconds,
    price: sold.price,
    isEstimate: sold.isEstimate,
    provider: route.route.provider,
    calls,
    isWhole: route === routes[0],
    headers: ignoredHeader(asked, route),
    usableForMs: null,
    lostPicos: lostPicos + sold.beyondPicos,
  } as const;
  const usage = { ...sold.usage, ...detailsOf(body) };
  if (!isEvents) return { ...common, ...written(asked, made, usage) };
  if (stream.firstByteMs === null) {
    const delta = { type: 'transcript.text.delta', delta: transcript.text };
    await stream.write([frame(delta)], aboutRoute(route));
  }
  const done = { ...logprobsOf(body), type: 'transcript.text.done', text: transcript.text };
  stream.lastFrame = (cost) =>
    formatSse(null, JSON.stringify({ ...done, usage: { ...usage, cost } })) +
    formatSse(null, '[DONE]');
  return { ...common, begun: stream };
}

const noTimes = makeFailure('unreadable', 'the answer has no segments');

function isSubtitles(format: TranscriptionRequest['format']): boolean {
  return format === 'srt' || format === 'vtt';
}

function frame(event: JsonObject): Buffer {
  return Buffer.from(formatSse(null, JSON.stringify(event)));
}

function logprobsOf({ logprobs }: JsonObject): JsonObject {
  return logprobs === undefined ? {} : { logprobs };
}

function detailsOf({ usage }: JsonObject): JsonObject {
  const details = isObject(usage) ? usage.input_token_details : undefined;
  return details === undefined ? {} : { input_token_details: details };
}

type Transcribed = Extract<TranscribedAt, { kind: 'transcribed' }>;

function written(
  { request: { format }, task, audio }: Asked,
  { body, transcript: { text, segments } }: Transcribed,
  usage: JsonObject,
) {
  const plain = 'text/plain; charset=utf-8';
  switch (format) {
    case 'text':
      return { body: `${text}\n`, contentType: plain };
    case 'srt':
      return { body: writeSrt(segments ?? []), contentType: plain };
    case 'vtt':
      return { body: writeVtt(segments ?? []), contentType: plain };
    case 'json':
      return { body: { text, ...logprobsOf(body), usage } };
    case 'verbose_json':
    case 'diarized_json': {
      const name = task === 'translations' ? 'translate' : 'transcribe';
      return { body: { task: name, duration: audio.seconds, ...body, usage } };
    }
  }
}

/**
 * `counted`: null when the provider counts nothing. A header may lie short, so its count is charged, up
 * to what the bytes can hold; more is the operator's loss.
 */
function soldAt(
  { price, audio }: Asked,
  route: TranscriptionRoute,
  counted: TranscriptionUsage | null,
) {
  const applied = atCost(price, route.chosen.costPpm);
  const { seconds: own, secondsMax } = audio;
  if (!isByTokens(price)) {
    const isEstimate = counted?.kind !== 'seconds' || counted.seconds === 0;
    const billed = Math.max(isEstimate ? own : counted.seconds, secondsMinAt(route));
    const seconds = Math.min(billed, secondsMax);
    const beyondPicos = BigInt(billed - seconds) * (applied.upstream.unit ?? 0n);
    const usage = { type: 'duration', seconds };
    return { seconds, price: secondPrice(applied), usage, isEstimate, beyondPicos };
  }
  const isEstimate = counted?.kind !== 'tokens' || counted.inputTokens === 0;
  const { inputTokens, outputTokens } = isEstimate ? likelyTokens(own) : counted;
  const count = {
    inputTokens: Math.min(inputTokens, tokensPerSecond.input * secondsMax + audio.promptTokens),
    outputTokens: Math.min(outputTokens, audio.outputPerSecond * secondsMax + leastTokens),
  };
  const { list, upstream } = applied;
  const tokens = { count, list: list.base, upstream: upstream.base };
  return {
    seconds: own,
    price: { listPicos: 0n, upstreamPicos: 0n, tokens, version: list.version },
    usage: {
      type: 'tokens',
      input_tokens: count.inputTokens,
      output_tokens: count.outputTokens,
      total_tokens: count.inputTokens + count.outputTokens,
    },
    isEstimate,
    beyondPicos: tokenCost(upstream, { inputTokens, outputTokens }) - tokenCost(upstream, count),
  };
}

function ignoredHeader(
  { accepted: { gateway }, request }: Asked,
  { host }: TranscriptionRoute,
): Headers {
  const names = [...request.ignored, ...Object.keys(request.fields).filter(host.ignores)];
  return names.length > 0 ? { [gateway.headers.ignored]: writeNames(names) } : {};
}
