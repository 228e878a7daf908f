// Counts the input of a request, free of charge: by the first of its model's providers that can count
// without running it (the sandbox plays it for test keys). When none can be asked or answers in time,
// or an account without balance has asked too often, the answer is our estimate, marked as such.
import { invalidRequest } from '../../canonical/errors.ts';
import type { Model } from '../../domain/catalog/model.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import { ledgerIdOf } from '../../domain/ledger/commands.ts';
import type { ClientFormat, ClientRequest, InputCount } from '../../formats/format.ts';
import {
  asRunning,
  ignoredAnswerFields,
  parseCountRequest,
} from '../../formats/messages/count-tokens.ts';
import { readCountBody } from '../../formats/gemini/count-tokens.ts';
import { gemini } from '../../formats/gemini/index.ts';
import { messages } from '../../formats/messages/index.ts';
import { upstreamFormats } from '../../formats/registry.ts';
import { responses } from '../../formats/responses/index.ts';
import { abortAfter } from '../../lib/clock.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ForwardableHeaders } from '../../providers/provider.ts';
import { playCount } from '../../providers/registry.ts';
import { checkPermission, findModel } from '../admission/permitted-model.ts';
import { tryRoutes } from '../calling/try-routes.ts';
import { priceFactorFor } from '../routing/price-factor.ts';
import type { Headers } from '../client.ts';
import type { Gateway } from '../gateway.ts';
import { requestHeaders, writeNames } from '../headers.ts';
import type { RequestRecord } from '../request-record.ts';
import { retirementHeaders } from '../retirement-headers.ts';
import { byTools } from '../routing/candidates.ts';
import { findTools } from '../routing/own-tools.ts';
import { findRoutes, type ChosenRoute } from '../routing/route.ts';
import { writeUpstreamRequest, type WrittenRequest } from '../routing/write-request.ts';
import { withImagesInlined, type NamedUrl } from './inline-images.ts';
import { estimateInput } from './input-estimate.ts';
import { answerMsMax, sendCount } from './send-count.ts';

/** An endpoint that counts. */
export type CountEndpoint = {
  readonly format: ClientFormat;
  /** Throws ApiError `invalid_request` that names the field. */
  readonly parse: (body: unknown) => ClientRequest;
  /** Returns the request as it would run: the count is what would be billed. */
  readonly asRunning: (request: ClientRequest, maxOutputTokens: number) => ClientRequest;
  /** Returns the fields that only affect the answer. */
  readonly ignored: (request: ClientRequest) => readonly string[];
  /** Returns the routes that it counts by. Throws ApiError when it does not count for the model. */
  readonly routesOf: (model: Model, routes: readonly ChosenRoute[]) => readonly ChosenRoute[];
  /** Names the URL of an image in an error. */
  readonly nameUrl: (path: string) => NamedUrl;
};

/** Like Anthropic's endpoint: for the models that run there. */
export const messagesCount: CountEndpoint = {
  format: messages,
  parse: parseCountRequest,
  asRunning,
  ignored: ignoredAnswerFields,
  routesOf(model, routes) {
    const counting = routes.filter((route) => route.format === messages.name && counterOf(route));
    if (counting.length > 0) return counting;
    throw invalidRequest(
      'model',
      `Tokens are counted here for Anthropic's models only, and '${model.id}' is not one that runs there. POST /v1/responses/input_tokens counts for every model.`,
    );
  },
  nameUrl: (path) => ({ param: `${path}.source.url`, subject: `${path}.source.url` }),
};

/** Like OpenAI's endpoint: for every model. */
export const responsesCount: CountEndpoint = {
  format: responses,
  parse: (body) => responses.parseRequest(body, { chatMaxTokens: null }),
  asRunning: (request) => request,
  ignored: () => [],
  routesOf: (_model, routes) => routes,
  nameUrl: () => ({ param: 'input', subject: 'the URL of an image in `input`' }),
};

/** Like Google's endpoint: for every model. */
export const geminiCount: CountEndpoint = {
  format: gemini,
  parse: (body) => gemini.parseRequest(readCountBody(body), { chatMaxTokens: null }),
  asRunning: (request) => request,
  ignored: () => [],
  routesOf: (_model, routes) => routes,
  nameUrl: () => ({ param: 'contents', subject: 'the URL of an image in `contents`' }),
};

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
  const routes = findRoutes(gateway.hosts, { model, mode: key.mode, clientFormat });
  record.note({ model: model.id });
  checkPermission(key, model.id);
  const counting: Counting = { ...incoming, gateway, endpoint, model, request };
  const written = writeForRoutes(counting, endpoint.routesOf(model, routes));
  const rateHeaders = await gateway.rateLimits.takeCount(key);
  const counted = (await mayAsk(gateway, key)) ? await askRoutes(counting, written) : null;
  const { ignored } = (counted ?? written[0]!).written;
  const names = new Set([...endpoint.ignored(request), ...ignored]);
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
  const request = endpoint.asRunning(counting.request, outputTokens);
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

type Counted = WrittenRoute & { readonly kind: 'counted'; readonly inputTokens: number };

/** Returns the first provider's count, or null when no provider can count. */
async function askRoutes(
  counting: Counting,
  [first, ...others]: readonly WrittenRoute[],
): Promise<Counted | null> {
  const signal = AbortSignal.any([
    counting.signal,
    abortAfter(counting.gateway.clock, answerMsMax),
  ]);
  const tried = await tryRoutes<WrittenRoute, Counted | { readonly kind: 'failure' }>(first!, {
    async call(asked) {
      const inputTokens = await askRoute({ ...counting, signal }, asked);
      return inputTokens === null
        ? { kind: 'failure' }
        : { kind: 'counted', ...asked, inputTokens };
    },
    nextAfter: () => (signal.aborted ? null : (others.shift() ?? null)),
  });
  return tried.kind === 'counted' ? tried : null;
}

/** How a route's provider counts; null: it cannot. */
type Counter = InputCount & { readonly path: string };

function counterOf({ kind, format, upstreamModel, provider }: ChosenRoute): Counter | null {
  const inputCount = kind.inputCounts?.[format] ?? upstreamFormats[format].inputCount;
  const path = kind.countTokensPath?.(upstreamModel, format, provider.place) ?? null;
  return inputCount && path !== null ? { ...inputCount, path } : null;
}

async function askRoute(
  counting: Counting,
  { route, written }: WrittenRoute,
): Promise<number | null> {
  const { format, upstreamModel } = route;
  const counter = counterOf(route);
  if (!counter) return null;
  counting.record.note({ provider: route.name.provider });
  if (route.isSandbox) return playCount({ format, body: written.body });
  const body = await withFetchedImages(counting, route, JSON.parse(written.body) as JsonObject);
  if (body === null) return null;
  return sendCount({
    ...counting,
    route,
    path: counter.path,
    headers: written.headers,
    body: counter.write(body, upstreamModel),
    read: counter.read,
  });
}

/**
 * Inlines images by URL, which Anthropic does not count. Returns null when it would refuse the
 * request.
 */
async function withFetchedImages(
  { gateway, endpoint, signal }: Counting,
  { format }: ChosenRoute,
  body: JsonObject,
): Promise<JsonObject | null> {
  if (format !== messages.name) return body;
  return withImagesInlined(gateway.images, body, { signal, nameUrl: endpoint.nameUrl });
}
