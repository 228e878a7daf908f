// Asks a model's providers, in order, for the number of input tokens of a request.
import { invalidRequest } from '../../canonical/errors.ts';
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Model } from '../../domain/catalog/model.ts';
import { readErrorMessage } from '../../formats/error-message.ts';
import type { ClientRequest, UpstreamTarget } from '../../formats/format.ts';
import { readCount, writeCountRequest } from '../../formats/messages/count-tokens.ts';
import { messages } from '../../formats/messages/index.ts';
import type { MessagesRequest } from '../../formats/messages/schema.ts';
import { hasUrlDocument, inlineImages, listUrlImages } from '../../formats/messages/url-images.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import { abortAfter } from '../../lib/clock.ts';
import type { ImageBytes } from '../../lib/image.ts';
import { ignoredBetas } from '../../formats/messages/betas.ts';
import type { TraceContext } from '../../lib/trace-context.ts';
import type { ForwardableHeaders } from '../../providers/provider.ts';
import { playCount } from '../../providers/registry.ts';
import { priceFactorFor } from '../charging/price-factor.ts';
import type { Gateway } from '../gateway.ts';
import type { RequestLog } from '../request-log.ts';
import { isCredentialRefused } from '../routing/retry-policy.ts';
import type { ChosenRoute } from '../routing/route.ts';
import { readSearch } from '../routing/provider-search.ts';
import { timeoutsFor } from '../calling/timeouts.ts';
import { toApiError, withoutProvider } from '../answering/failure-message.ts';

type CountingRoute = ChosenRoute & {
  readonly kind: { readonly countTokensPath: (model: string) => string };
};

/** True when it counts a Messages request without running it; only Anthropic does. */
export function canCount(route: ChosenRoute): route is CountingRoute {
  return route.format === messages.name && route.kind.countTokensPath !== undefined;
}

export type CountQuestion = {
  readonly requestId: string;
  readonly key: ApiKey;
  readonly model: Model;
  readonly request: ClientRequest<MessagesRequest>;
  readonly routes: readonly CountingRoute[];
  readonly forwardable: ForwardableHeaders;
  readonly trace: TraceContext | null;
  readonly log: RequestLog;
  readonly signal: AbortSignal;
};

/** The reply of one provider. */
type Counted = { readonly inputTokens: number; readonly ignored: readonly string[] };

/**
 * The time to wait for a count. A client waits to send the real request: later, an estimate is more
 * useful.
 */
export const answerMsMax = 5_000;
/**
 * Images by URL to fetch for one count: counting is free, so it must not make us fetch without
 * limit.
 */
const urlImagesMax = 20;

/** Returns null when no provider can count. Throws ApiError when the request itself is at fault. */
export async function askForCount(
  gateway: Gateway,
  question: CountQuestion,
): Promise<Counted | null> {
  const signal = AbortSignal.any([question.signal, abortAfter(gateway.clock, answerMsMax)]);
  // Refuses what may not be sent before fetching anything.
  for (const route of question.routes) write(gateway, { ...question, route });
  // The sandbox counts every image alike and fetches none.
  const isPlayed = question.routes.every((route) => route.isPlayed);
  const request = isPlayed
    ? question.request
    : await withImagesInlined(gateway, question.request, { signal, nameUrl: urlOfBlock });
  if (request === null) return null;
  for (const route of question.routes) {
    if (signal.aborted) return null;
    const counted = await ask(gateway, { ...question, request, route, signal });
    if (counted) return counted;
  }
  return null;
}

type Asking = CountQuestion & { readonly route: CountingRoute };

async function ask(gateway: Gateway, asking: Asking): Promise<Counted | null> {
  const { route, model, forwardable, trace, log, signal } = asking;
  const { body, ignored } = write(gateway, asking);
  log.note({ provider: route.name.provider });
  if (route.isPlayed)
    return {
      inputTokens: playCount({ format: route.format, body: JSON.stringify(body) }),
      ignored: [...ignored, ...ignoredBetas(forwardable['anthropic-beta'])],
    };
  const reply = await gateway.upstreams.send({
    provider: route.provider,
    path: route.kind.countTokensPath(route.upstreamModel),
    headers: route.kind.headers(route.provider.apiKey, forwardable),
    trace,
    body: JSON.stringify(body),
    stream: false,
    timeouts: timeoutsFor(route.provider.timeouts, { model, stream: false }),
    signal,
  });
  if (reply.kind === 'failure') {
    const message = readErrorMessage(reply.body) ?? reply.failure.message;
    return noteCountFailure(gateway, asking, { ...reply.failure, message });
  }
  const inputTokens = reply.kind === 'answer' ? readCount(reply.body) : null;
  return inputTokens === null
    ? null
    : { inputTokens, ignored: [...ignored, ...ignoredBetas(forwardable['anthropic-beta'])] };
}

type NamedUrl = { readonly param: string; readonly subject: string };

function urlOfBlock(path: string): NamedUrl {
  return { param: `${path}.source.url`, subject: `${path}.source.url` };
}

/**
 * Statuses that are about the request. A host without this endpoint answers 404 or 405, which say
 * nothing about it.
 */
const requestStatuses: readonly (number | null)[] = [400, 413, 422];

/**
 * Throws ApiError `invalid_request` when the upstream refuses the request itself; otherwise logs
 * the failure.
 */
export function noteCountFailure(
  gateway: Gateway,
  {
    route,
    log,
    requestId,
    model,
  }: Pick<CountQuestion, 'log' | 'requestId' | 'model'> & { readonly route: ChosenRoute },
  failure: UpstreamFailure,
): null {
  const { provider } = route;
  log.note({ upstreamStatus: failure.status });
  if (requestStatuses.includes(failure.status)) {
    throw toApiError({ ...failure, message: withoutProvider(failure.message, provider) });
  }
  const { kind, status } = failure;
  const fields = {
    request_id: requestId,
    provider: route.name.provider,
    model: model.id,
    kind,
    upstream_status: status,
  };
  if (isCredentialRefused(status))
    gateway.log.error(
      fields,
      'the provider refuses its credential or wants money: it counts no tokens',
    );
  else gateway.log.warn(fields, 'the upstream counted no tokens; an estimate was given');
  return null;
}

function write(gateway: Gateway, { key, model, request, route }: Asking) {
  const factor = priceFactorFor(gateway, key, model.id);
  const search = readSearch(gateway, { model, route, format: messages, request }, factor);
  const target: UpstreamTarget = {
    model: route.upstreamModel,
    stream: false,
    maxOutputTokens: model.maxOutputTokens,
    thinking: model.supports.thinking,
    isOpenAi: route.kind.isOpenAi ?? false,
    passFields: route.passFields,
    ...(search && { searchesMax: search.searchesMax }),
  };
  return writeCountRequest(request, target);
}

/**
 * Returns null when an image can neither be inlined nor counted by its URL. `nameUrl`: names the
 * URL of a block's image in an error.
 */
export async function withImagesInlined<Request extends Pick<ClientRequest, 'body'>>(
  { images: files }: Gateway,
  request: Request,
  {
    signal,
    nameUrl,
  }: { readonly signal: AbortSignal; readonly nameUrl: (path: string) => NamedUrl },
): Promise<Request | null> {
  if (hasUrlDocument(request)) return null;
  const listed = listUrlImages(request);
  if (listed.length === 0) return request;
  const urls = [...new Set(listed.map(({ url }) => url))];
  if (urls.length > urlImagesMax) return null;
  const readings = await files.readUrls(urls, signal).catch((error: unknown) => {
    if (signal.aborted) return null;
    throw error;
  });
  if (readings === null) return null;
  const images = new Map<string, ImageBytes>();
  for (const { url, path } of listed) {
    const reading = readings.get(url);
    if (reading?.kind === 'unreadable') {
      const { param, subject } = nameUrl(path);
      throw invalidRequest(param, `${subject} ${reading.problem}`);
    }
    if (reading) images.set(url, reading.image);
  }
  return inlineImages(request, images);
}
