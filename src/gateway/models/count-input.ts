// Counts the input of a request, free of charge: by the first of its model's providers that can count
// without running it (the sandbox plays it for test keys). When none can be asked or answers in time,
// or an account without balance has asked too often, the answer is our estimate, marked as such.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Model } from '../../domain/catalog/model.ts';
import type { ImageMemory } from '../../domain/images/fetched-bytes.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import { ledgerIdOf } from '../../domain/ledger/commands.ts';
import type { ClientRequest } from '../../formats/format.ts';
import { messages } from '../../formats/messages/index.ts';
import { abortAfter } from '../../lib/clock.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ForwardableHeaders } from '../../providers/provider.ts';
import { playCount } from '../../providers/sandbox/play-exchange.ts';
import { wordedFailure } from '../../providers/worded-failure.ts';
import { checkPermission, findModel } from '../admission/permitted-model.ts';
import { toApiError, withoutProvider } from '../calling/failure-message.ts';
import { isCredentialRefused } from '../calling/retry-policy.ts';
import { timeoutsFor } from '../calling/timeouts.ts';
import { priceFactorFor } from '../routing/price-factor.ts';
import type { Headers } from '../client.ts';
import type { Gateway } from '../gateway.ts';
import { requestHeaders, writeNames } from '../headers.ts';
import type { RequestRecord } from '../request-record.ts';
import { retirementHeaders } from '../retirement.ts';
import { byTools } from '../routing/candidates.ts';
import { findTools } from '../routing/own-tools.ts';
import { findRoutes, type ChosenRoute } from '../routing/route.ts';
import { namesMediaInside } from '../answering/fetched-images.ts';
import { writeUpstreamRequest, type WrittenRequest } from '../routing/write-request.ts';
import { counterOf, type CountEndpoint } from './count-endpoints.ts';
import { withImagesInlined } from './inline-images.ts';
import { estimateInput } from './input-estimate.ts';

export type CountIncoming = {
  readonly requestId: string;
  readonly key: ApiKey;
  /** The parsed JSON. */
  readonly body: unknown;
  readonly forwardable: ForwardableHeaders;
  readonly record: RequestRecord;
  /** The client has disconnected. */
  readonly signal: AbortSignal;
};

export type TokenCount = {
  readonly inputTokens: number;
  readonly isEstimated: boolean;
  readonly headers: Headers;
};

/** Throws the ApiError to answer with. Holds and charges nothing. */
export async function countInput(
  gateway: Gateway,
  endpoint: CountEndpoint,
  incoming: CountIncoming,
): Promise<TokenCount> {
  const { key, record } = incoming;
  const request = endpoint.parse(incoming.body);
  record.note({ askedModel: request.model });
  const model = findModel(gateway, key, request.model);
  const clientFormat = endpoint.format.name;
  const { mode, ownKeys } = key;
  const routes = findRoutes(gateway.hosts, { model, mode, clientFormat, ownKeys });
  record.note({ model: model.id });
  checkPermission(key, model.id);
  const counting: Counting = { ...incoming, gateway, endpoint, model, request };
  const written = writeForRoutes(counting, endpoint.routesOf?.(model, routes) ?? routes);
  const rateHeaders = await gateway.rateLimits.takeCount(key);
  const counted = (await mayAsk(gateway, key)) ? await askRoutes(counting, written) : null;
  const { ignored } = (counted ?? written[0]!).written;
  const names = new Set([...(endpoint.ignored?.(request) ?? []), ...ignored]);
  const sale = { headers: retirementHeaders(model.retirement) };
  return {
    inputTokens: counted?.inputTokens ?? estimateInput(request, { model, routes }).likely,
    isEstimated: counted === null,
    headers: {
      ...requestHeaders({ gateway, caller: incoming, rateHeaders, sale }),
      ...(names.size > 0 && { [gateway.headers.ignored]: writeNames([...names]) }),
      ...(counted === null && { [gateway.headers.tokenCount]: 'estimate' }),
    },
  };
}

/**
 * Returns true when a provider may be asked. Counting is free, but accounts without a balance must
 * not use up the operator's quota.
 */
async function mayAsk({ books, rateLimits }: Gateway, key: ApiKey): Promise<boolean> {
  if (key.mode === 'test') return true;
  const balance = await books.readBalance(ledgerIdOf(key.accountId, key.mode));
  return (balance !== null && balance.availableMicros > 0) || rateLimits.takeUnpaidCount(key);
}

type Counting = CountIncoming & {
  readonly gateway: Gateway;
  readonly endpoint: CountEndpoint;
  readonly model: Model;
  readonly request: ClientRequest;
};
type WrittenRoute = { readonly route: ChosenRoute; readonly written: WrittenRequest };

/**
 * Writes the request as it would run, so that the count matches the bill. Throws ApiError
 * `invalid_request` when no route accepts it.
 */
function writeForRoutes(
  counting: Counting,
  routes: readonly ChosenRoute[],
): readonly WrittenRoute[] {
  const { gateway, key, model, endpoint } = counting;
  const outputTokens = model.maxOutputTokens;
  const request = endpoint.asRunning?.(counting.request, outputTokens) ?? counting.request;
  const factor = priceFactorFor(gateway, key, model.id);
  const estimate = estimateInput(request, { model, routes });
  const asked = { ...counting, request, format: endpoint.format, estimate };
  const written: WrittenRoute[] = [];
  let refusal: unknown = null;
  const limits = routes.map((route) => {
    const tools = findTools({ ...asked, route }, factor);
    return { route, tools, outputTokens };
  });
  for (const limit of limits.toSorted(byTools)) {
    try {
      written.push({ route: limit.route, written: writeUpstreamRequest(asked, limit) });
    } catch (error) {
      refusal ??= error;
    }
  }
  if (written.length === 0) throw refusal;
  return written;
}

/**
 * The time to wait for a count. A client waits to send the real request: later, an estimate is more
 * useful.
 */
const answerMsMax = 5_000;

type Counted = WrittenRoute & { readonly inputTokens: number };

/** Returns the first provider's count, or null when no provider can count. */
async function askRoutes(
  counting: Counting,
  routes: readonly WrittenRoute[],
): Promise<Counted | null> {
  const inTime = abortAfter(counting.gateway.clock, answerMsMax);
  const signal = AbortSignal.any([counting.signal, inTime]);
  for (const asked of routes) {
    const inputTokens = await askRoute({ ...counting, signal }, asked);
    if (inputTokens !== null) return { ...asked, inputTokens };
    if (signal.aborted) return null;
  }
  return null;
}

async function askRoute(counting: Counting, asked: WrittenRoute): Promise<number | null> {
  const memory = counting.gateway.images.enter(counting.key.accountId);
  try {
    return await askWith({ ...counting, memory }, asked);
  } finally {
    memory.leave();
  }
}

async function askWith(
  counting: Counting & { readonly memory: ImageMemory },
  { route, written }: WrittenRoute,
): Promise<number | null> {
  const { format, upstreamModel } = route;
  const counter = counterOf(route);
  if (!counter) return null;
  counting.record.note({ provider: route.name.provider });
  if (route.isSandbox) return playCount({ format, body: written.body });
  const body = await withFetchedImages(counting, route, written.body);
  if (body === null) return null;
  const reply = await counting.gateway.hosts.upstreams.send({
    provider: route.provider,
    path: counter.path,
    headers: written.headers,
    trace: counting.record.trace,
    body: JSON.stringify(counter.write(body, upstreamModel)),
    stream: false,
    timeouts: timeoutsFor(route.provider.timeouts, { model: counting.model, stream: false }),
    signal: counting.signal,
  });
  if (reply.kind === 'answer') return counter.read(reply.body);
  const failure = wordedFailure(reply, route.kind);
  const [, told] = tooLong.exec(failure.message) ?? [];
  if (told !== undefined) return Number(told);
  noteFailure(counting, route, failure);
  return null;
}

/**
 * Bedrock counts 200,000 tokens at most, whatever the model takes, and tells the count of longer
 * inputs in its refusal (github.com/boto/botocore/issues/3707, read 2026-11-30).
 */
const tooLong = /prompt is too long: (\d{1,9}) tokens\b/;

/**
 * Inlines images by URL, which Anthropic does not count. Returns null when it would refuse the
 * request, and for addresses that a host inside the network would fetch.
 */
async function withFetchedImages(
  { gateway, endpoint, signal, memory }: Counting & { readonly memory: ImageMemory },
  route: ChosenRoute,
  text: string,
): Promise<JsonObject | null> {
  const body = JSON.parse(text) as JsonObject;
  if (route.format !== messages.name) return namesMediaInside(route, text) ? null : body;
  return withImagesInlined(gateway.images, body, { signal, memory, nameUrl: endpoint.nameUrl });
}

/**
 * Statuses that are about the request. A host without this endpoint answers 404 or 405, which say
 * nothing about it.
 */
const requestStatuses: readonly (number | null)[] = [400, 413, 422];
/** Bedrock's and Vertex's refusals of a model that they cannot count for are a 400, too. */
const cannotCount = /support\w* (?:for token )?counting/i;

/**
 * Throws ApiError `invalid_request` when the upstream refuses the request itself; otherwise logs
 * the failure.
 */
function noteFailure(
  { gateway, requestId, model, record }: Counting,
  route: ChosenRoute,
  failure: UpstreamFailure,
): void {
  record.note({ upstreamStatus: failure.status });
  if (requestStatuses.includes(failure.status) && !cannotCount.test(failure.message)) {
    throw toApiError({ ...failure, message: withoutProvider(failure.message, route.provider) });
  }
  const { kind, status } = failure;
  const fields = {
    request_id: requestId,
    provider: route.name.provider,
    model: model.id,
    kind,
    upstream_status: status,
  };
  // An account's own key is no concern of the operator's.
  if (isCredentialRefused(status) && route.name.ownKeyId === undefined)
    gateway.log.error(
      fields,
      'the provider refuses its credential or wants money: it counts no tokens',
    );
  else gateway.log.warn(fields, 'the upstream counted no tokens; an estimate was given');
}
