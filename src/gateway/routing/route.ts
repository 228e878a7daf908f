// Finds the routes of a model: which providers can serve a request, in which wire format. A test
// key uses the same routes, or all of the catalogue's when none is active; the sandbox plays their
// hosts.
import { ApiError, quoted } from '../../canonical/errors.ts';
import type { ClientFormatName, UpstreamFormatName } from '../../terms/format-name.ts';
import type { Mode } from '../../terms/mode.ts';
import { formatsOfKind } from '../../terms/provider-kind.ts';
import type { Catalog } from '../../domain/catalog/catalog.ts';
import type { Model, Route } from '../../domain/catalog/model.ts';
import type { OwnKey } from '../../domain/keys/api-key.ts';
import { reservedProviderName } from '../../config/known-providers.ts';
import type { ChatRequest } from '../../formats/chat/schema.ts';
import { lacksSearch } from '../../formats/chat/web-search.ts';
import { isAskedFor, type OpenedFields } from '../../formats/field-verdicts.ts';
import { stopSequencesMax } from '../../formats/model-abilities.ts';
import { refusesChatTools } from '../../formats/openai-models.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { HttpProviderKind } from '../../providers/provider.ts';
import type { ConnectedProvider, ConnectedProviders } from './providers.ts';
import { modelEnded } from '../retirement.ts';
import type { RouteName } from '../calling/shared-health.ts';
import type { PassedLine } from '../request.ts';

export type ChosenRoute = Pick<
  Route,
  'rank' | 'weight' | 'contextTokens' | 'lacks' | 'costPpm' | 'batchModel'
> & {
  /** The sandbox answers instead of the host; nothing is sent. */
  readonly isSandbox: boolean;
  readonly provider: ConnectedProvider;
  readonly kind: HttpProviderKind;
  readonly upstreamModel: string;
  readonly format: UpstreamFormatName;
  /** Its name in health checks, headers, logs and books. */
  readonly name: RouteName;
  /** Unknown fields that the operator allows there. */
  readonly passFields: OpenedFields;
};

type RouteQuery = {
  readonly model: Model;
  readonly mode: Mode;
  readonly clientFormat: ClientFormatName;
  /** The account's keys of providers, for live requests. */
  readonly ownKeys: readonly OwnKey[];
  /** The client's request, when the choice of format depends on it. */
  readonly body?: JsonObject;
};

/**
 * Returns the active routes by rank; for a test key, all routes when none is active. Throws
 * ApiError `model_not_found` when there is none: for a live key the model does not exist then, and
 * when the operator ended the model.
 */
export function findRoutes(
  { providers, catalog }: { readonly providers: ConnectedProviders; readonly catalog: Catalog },
  { model, mode, clientFormat, ownKeys, body = {} }: RouteQuery,
): readonly [ChosenRoute, ...ChosenRoute[]] {
  if (model.retirement?.isEnded) throw modelEnded(model);
  const isSandbox = mode === 'test';
  const live = catalog.liveRoutes(model);
  const known = isSandbox ? providers.played : providers.byName;
  const choose = (route: Route, provider: ConnectedProvider | null | undefined) =>
    provider ? [chooseRoute(provider, { route, model, clientFormat, body, isSandbox })] : [];
  const routes = (isSandbox && live.length === 0 ? model.routes : live).flatMap((route) => [
    ...choose(route, known.get(route.provider)),
    ...(isSandbox ? [] : ownKeys).flatMap((ownKey) =>
      ownKey.provider === route.provider
        ? choose(atOwnRank(route, ownKey), providers.withOwnKey(ownKey)?.chat)
        : [],
    ),
  ]);
  const [first, ...others] = routes.toSorted((one, other) => one.rank - other.rank);
  if (!first) throw modelNotFound(model.id);
  return [first, ...others];
}

/** Larger than any rank in the configuration. */
const ranksMax = 10_000;

/** Own keys come before or after all credentials of the operator. */
function atOwnRank(route: Route, { goesFirst }: OwnKey): Route {
  return { ...route, rank: route.rank + (goesFirst ? -ranksMax : ranksMax) };
}

/** Returns the formats in which a provider speaks with a model, best first. */
export function formatsAt(
  { kind, formatsOf }: HttpProviderKind,
  upstreamModel: string,
): readonly UpstreamFormatName[] {
  return formatsOf?.(upstreamModel) ?? formatsOfKind(kind);
}

/**
 * Returns the format to speak. A provider with both Responses and Chat is asked in Responses for
 * functions that its model refuses in Chat, and in Chat for stop sequences, which Responses lacks. A
 * model that stops by itself generates, and costs, less than one that is cut.
 */
function formatOf(
  kind: HttpProviderKind,
  { route, model, clientFormat, body }: RouteOfModel,
): UpstreamFormatName {
  const formats = formatsAt(kind, route.upstreamModel);
  const { reasoning_effort: effort = null } = body as Pick<ChatRequest, 'reasoning_effort'>;
  // The gateway's own search is a function, too.
  const asksForFunctions =
    isAskedFor(body.tools) ||
    (isAskedFor(body.web_search_options) && lacksSearch(route.upstreamModel));
  const isRefused =
    clientFormat === 'chat' &&
    formats.includes('responses') &&
    asksForFunctions &&
    refusesChatTools(effort, route.upstreamModel);
  if (formats.includes(clientFormat) && !isRefused) return clientFormat;
  const [first] = formats;
  const stops = Array.isArray(body.stop_sequences) ? body.stop_sequences.length : 0;
  const isTaken = stops > 0 && stops <= stopSequencesMax && !model.supports.thinking;
  return first === 'responses' && isTaken && formats.includes('chat') ? 'chat' : first!;
}

/**
 * Throws ApiError `model_not_found` when the operator has switched the route off meanwhile. What it has
 * answered by then is sold all the same, if the model still has a route to the provider.
 */
export function passedRoute(
  { route: { provider, upstreamModel, format }, answer }: PassedLine,
  routes: readonly ChosenRoute[],
  model: Model,
): ChosenRoute {
  const found = routes.find(
    ({ name, format: spoken }) =>
      name.provider === provider && name.upstreamModel === upstreamModel && spoken === format,
  );
  if (found) return found;
  const other = answer && routes.find(({ name }) => name.provider === provider);
  if (!other) throw modelNotFound(model.id);
  return { ...other, upstreamModel, format, name: { provider, upstreamModel } };
}

/** `meant`: the id that was probably meant. */
export function modelNotFound(name: string, meant: string | null = null): ApiError {
  const question = meant === null ? '' : ` Did you mean '${meant}'?`;
  return new ApiError(
    'model_not_found',
    `The model ${quoted(name)} does not exist or is not switched on here.${question} GET /v1/models lists what there is.`,
    { param: 'model' },
  );
}

type RouteOfModel = Required<Pick<RouteQuery, 'model' | 'clientFormat' | 'body'>> &
  Pick<ChosenRoute, 'isSandbox'> & { readonly route: Route };

function chooseRoute(provider: ConnectedProvider, asked: RouteOfModel): ChosenRoute {
  const { route, model, isSandbox } = asked;
  const { kind } = provider;
  const { api, upstreamModel, rank, weight, contextTokens, lacks, costPpm, batchModel } = route;
  const format = api ?? formatOf(kind, asked);
  const { ownKeyId } = provider;
  const name = {
    provider: isSandbox ? reservedProviderName : provider.name,
    upstreamModel,
    ...(ownKeyId !== undefined && { ownKeyId }),
  };
  const passFields =
    model.passFields.size === 0
      ? provider.passFields
      : new Set([...provider.passFields, ...model.passFields]);
  return {
    isSandbox,
    provider,
    kind,
    upstreamModel,
    format,
    name,
    rank,
    weight,
    contextTokens,
    lacks: provider.wishes.lacksTools ? lacks.union(new Set(['tools'])) : lacks,
    costPpm,
    batchModel,
    passFields,
  };
}
