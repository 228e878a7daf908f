// Counts the input of a Responses request for any model, free of charge: by its first provider that
// can count without running (the sandbox plays it for test keys). Otherwise the answer is our
// estimate, marked as such.
import { formatsOfKind } from '../../canonical/provider-kind.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ClientRequest } from '../../formats/format.ts';
import { messages } from '../../formats/messages/index.ts';
import { upstreamFormats } from '../../formats/registry.ts';
import { responses } from '../../formats/responses/index.ts';
import type { Model } from '../../domain/catalog/model.ts';
import { abortAfter } from '../../lib/clock.ts';
import { countHeaders, mayAsk, type CountIncoming, type TokenCount } from './count-tokens.ts';
import { priceFactorFor } from '../charging/price-factor.ts';
import type { Gateway } from '../gateway.ts';
import { retirementHeaders } from '../retirement-headers.ts';
import { withImagesInlined } from './inline-images.ts';
import { estimateInput } from './input-estimate.ts';
import { answerMsMax, sendCount } from './send-count.ts';
import { checkPermission, findModel } from '../admission/permitted-model.ts';
import { findRoutes, type ChosenRoute } from '../routing/route.ts';
import { readOwnSearch } from '../routing/own-search.ts';
import { readSearch } from '../routing/provider-search.ts';
import { playCount } from '../../providers/registry.ts';
import { writeUpstreamRequest, type WrittenRequest } from '../routing/write-request.ts';

/** Throws the ApiError to answer with. Holds and charges nothing. */
export async function countInput(
  gateway: Gateway,
  incoming: CountIncoming,
): Promise<TokenCount & { readonly isEstimated: boolean }> {
  const { key, log } = incoming;
  const request = responses.parseRequest(incoming.body, { chatMaxTokens: null });
  log.note({ askedModel: request.model });
  const model = findModel(gateway, key, request.model);
  const routes = findRoutes(gateway, { model, mode: key.mode, clientFormat: responses.name });
  log.note({ model: model.id });
  checkPermission(key, model.id);
  const counting: Counting = { ...incoming, gateway, model, request };
  const written = writeForRoutes(counting, routes);
  const rateHeaders = await gateway.rateLimits.takeRequest(key);
  const counted = (await mayAsk(gateway, key)) ? await askRoutes(counting, written) : null;
  const ignored = (written.find(({ route }) => route === counted?.route) ?? written[0]!).written
    .ignored;
  const isEstimated = counted === null;
  const inputTokens = counted?.inputTokens ?? estimateInput(request.body, { model, routes }).likely;
  return {
    inputTokens,
    isEstimated,
    headers: countHeaders(
      { gateway, key, rateHeaders, work: { headers: retirementHeaders(model.retirement) } },
      { ignored, isEstimated },
    ),
  };
}

type Counting = CountIncoming & {
  readonly gateway: Gateway;
  readonly model: Model;
  readonly request: ClientRequest;
};
type WrittenRoute = { readonly route: ChosenRoute; readonly written: WrittenRequest };
type CountedRoute = { readonly route: ChosenRoute; readonly inputTokens: number };

/**
 * Writes the request as it would run, so that the count matches the bill. Throws ApiError
 * `invalid_request` when no route accepts it.
 */
function writeForRoutes(
  counting: Counting,
  routes: readonly ChosenRoute[],
): readonly WrittenRoute[] {
  const { gateway, key, model, request } = counting;
  const factor = priceFactorFor(gateway, key, model.id);
  const asked = { ...counting, format: responses };
  const written: WrittenRoute[] = [];
  let refusal: unknown = null;
  for (const route of routes) {
    const estimate = estimateInput(request.body, { model, routes });
    const search =
      readSearch(gateway, { model, route, format: responses, request }, factor) ??
      readOwnSearch({ ...asked, route, estimate });
    try {
      written.push({
        route,
        written: writeUpstreamRequest(asked, {
          route,
          search,
          outputTokens: model.maxOutputTokens,
        }),
      });
    } catch (error) {
      refusal ??= error;
    }
  }
  if (written.length === 0) throw refusal;
  return written;
}

/** Returns the first provider's count, or null when no provider can count. */
async function askRoutes(
  counting: Counting,
  written: readonly WrittenRoute[],
): Promise<CountedRoute | null> {
  const { gateway } = counting;
  const signal = AbortSignal.any([counting.signal, abortAfter(gateway.clock, answerMsMax)]);
  for (const { route, written: request } of written) {
    if (signal.aborted) return null;
    const inputTokens = await askRoute({ ...counting, signal }, route, request);
    if (inputTokens !== null) return { route, inputTokens };
  }
  return null;
}

async function askRoute(
  counting: Counting,
  route: ChosenRoute,
  written: WrittenRequest,
): Promise<number | null> {
  const { kind, format, upstreamModel } = route;
  const { inputCount } = upstreamFormats[format];
  // It only counts requests in its first format.
  if (!inputCount || !kind.countTokensPath || format !== formatsOfKind(kind.kind)[0]) return null;
  counting.log.note({ provider: route.name.provider });
  if (route.isPlayed) return playCount({ format, body: written.body });
  const body = await withFetchedImages(counting, route, JSON.parse(written.body) as JsonObject);
  if (body === null) return null;
  return sendCount({
    ...counting,
    route,
    path: kind.countTokensPath(upstreamModel),
    headers: written.headers,
    body: inputCount.write(body, upstreamModel),
    read: inputCount.read,
  });
}

/**
 * Inlines images by URL, which Anthropic does not count. Returns null when it would refuse the
 * request.
 */
async function withFetchedImages(
  { gateway, signal }: Counting,
  { format }: ChosenRoute,
  body: JsonObject,
): Promise<JsonObject | null> {
  if (format !== messages.name) return body;
  const nameUrl = () => ({ param: 'input', subject: 'the URL of an image in `input`' });
  return (await withImagesInlined(gateway, { body }, { signal, nameUrl }))?.body ?? null;
}
