// Asks the providers of a model, in order, how many tokens a request's input is.
import { invalidRequest } from '../canonical/errors.ts';
import type { UpstreamFailure } from '../canonical/event.ts';
import type { Model } from '../catalog/model.ts';
import { readErrorMessage } from '../formats/error-message.ts';
import type { ClientRequest, UpstreamTarget } from '../formats/format.ts';
import { readCount, writeCountRequest } from '../formats/messages/count-tokens.ts';
import { messages } from '../formats/messages/index.ts';
import { hasUrlDocument, inlineImages, listUrlImages } from '../formats/messages/url-images.ts';
import { multiplierPpmFor, type ApiKey } from '../keys/api-key.ts';
import { abortAfter } from '../lib/clock.ts';
import type { ImageBytes } from '../lib/image.ts';
import type { ForwardableHeaders } from '../providers/provider.ts';
import type { Counted } from './count-tokens.ts';
import type { Gateway, RequestTrace } from './gateway.ts';
import { isCredentialRefused } from './retry-policy.ts';
import { providerNameOf, type ChosenRoute, type HttpRoute } from './route.ts';
import { readSearch } from './search.ts';
import { timeoutsFor } from './timeouts.ts';
import { toApiError, withoutProvider } from './upstream-error.ts';

type CountingRoute = HttpRoute & { readonly kind: { readonly countTokensPath: string } };

/** Only Anthropic counts without running. */
export function canCount(route: ChosenRoute): route is CountingRoute {
  return route.transport === 'http' && route.format === messages.name && route.kind.countTokensPath !== undefined;
}

export type CountQuestion = {
  readonly requestId: string;
  readonly key: ApiKey;
  readonly model: Model;
  readonly request: ClientRequest;
  readonly routes: readonly CountingRoute[];
  readonly forwardable: ForwardableHeaders;
  readonly trace: RequestTrace;
  readonly signal: AbortSignal;
};

/** A count is asked for while somebody waits to send the request itself: later than this, an estimate is of more use. */
const answerMsMax = 5_000;
/** Counting is free, so it must not make us fetch without end. */
const urlImagesMax = 20;

/** null: nobody can tell. Throws ApiError when the request itself is at fault. */
export async function askForCount(gateway: Gateway, question: CountQuestion): Promise<Counted | null> {
  const signal = AbortSignal.any([question.signal, abortAfter(gateway.clock, answerMsMax)]);
  // What may not be sent is refused before anything is fetched for it.
  for (const route of question.routes) write(gateway, { ...question, route });
  const request = await withImagesInlined(gateway, question.request, signal);
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
  const { route, model, forwardable, trace, signal } = asking;
  const { body, ignored } = write(gateway, asking);
  trace.provider = providerNameOf(route);
  const reply = await gateway.upstreams.send({
    provider: route.provider,
    path: route.kind.countTokensPath,
    headers: route.kind.headers(route.provider.apiKey, forwardable),
    body: JSON.stringify(body),
    stream: false,
    timeouts: timeoutsFor(route.provider.timeouts, { model, stream: false }),
    signal,
  });
  if (reply.kind === 'failure') {
    const message = readErrorMessage(reply.body) ?? reply.failure.message;
    return noteFailure(gateway, asking, { ...reply.failure, message });
  }
  const inputTokens = reply.kind === 'answer' ? readCount(reply.body) : null;
  return inputTokens === null ? null : { inputTokens, ignored };
}

/** The statuses that speak of the request. A host without this endpoint answers 404 or 405, which says nothing of it. */
const requestStatuses: readonly (number | null)[] = [400, 413, 422];

function noteFailure({ log }: Gateway, { route, trace, requestId, model }: Asking, failure: UpstreamFailure): null {
  const { provider } = route;
  trace.upstreamStatus = failure.status;
  if (requestStatuses.includes(failure.status)) {
    throw toApiError({ ...failure, message: withoutProvider(failure.message, provider) });
  }
  const { kind, status } = failure;
  const fields = { request_id: requestId, provider: providerNameOf(route), model: model.id, kind, upstream_status: status };
  if (isCredentialRefused(status)) log.error(fields, 'the provider refuses its credential or wants money: it counts no tokens');
  else log.warn(fields, 'the upstream counted no tokens; an estimate was given');
  return null;
}

function write(gateway: Gateway, { key, model, request, route }: Asking) {
  const factor = { markup: gateway.config.pricing.markup, multiplierPpm: multiplierPpmFor(key, model.id) };
  const search = readSearch(gateway, { model, route, format: messages, request }, factor);
  const target: UpstreamTarget = {
    model: route.upstreamModel,
    stream: false,
    maxOutputTokens: model.maxOutputTokens,
    thinking: model.supports.thinking,
    maxTokensField: route.kind.maxTokensField,
    passFields: route.passFields,
    ...(search && { searchesMax: search.searchesMax }),
  };
  return writeCountRequest(request, target);
}

/** null: it holds what can neither be put into it nor be counted by its URL. */
async function withImagesInlined(
  { images: files }: Gateway,
  request: ClientRequest,
  signal: AbortSignal,
): Promise<ClientRequest | null> {
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
    if (reading?.kind === 'unreadable') throw invalidRequest(`${path}.source.url`, `${path}.source.url ${reading.problem}`);
    if (reading) images.set(url, reading.image);
  }
  return inlineImages(request, images);
}
