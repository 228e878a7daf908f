// Which providers can serve a request, and in which wire format: the model's live routes, or the sandbox for a test key.
import { ApiError } from '../canonical/errors.ts';
import type { ClientFormatName, UpstreamFormatName } from '../canonical/format-name.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Model, Route } from '../catalog/model.ts';
import type { OpenedFields } from '../formats/field-verdicts.ts';
import type { HttpProviderKind, SandboxProviderKind } from '../providers/provider.ts';
import type { ConnectedProvider, ConnectedProviders } from './providers.ts';
import type { RouteName } from './route-health.ts';

export type ChosenRoute = SandboxRoute | HttpRoute;

type SandboxRoute = {
  readonly transport: 'sandbox';
  /** Those of all routes of the model: a test request may hold what a live one may. */
  readonly passFields: OpenedFields;
  readonly provider: SandboxProviderKind;
  readonly upstreamModel: string;
};

export type HttpRoute = Pick<Route, 'rank' | 'weight' | 'contextTokens' | 'lacks'> & {
  readonly transport: 'http';
  readonly provider: ConnectedProvider;
  readonly kind: HttpProviderKind;
  readonly upstreamModel: string;
  readonly format: UpstreamFormatName;
  /** By which its health is known. */
  readonly name: RouteName;
  /** The fields that the operator lets through there, unknown as they are. */
  readonly passFields: OpenedFields;
};

type RouteQuery = { readonly model: Model; readonly mode: 'live' | 'test'; readonly clientFormat: ClientFormatName };

/**
 * All that are switched on, by rank. Throws ApiError `model_not_found` when there is none: to a live key the model does not exist then.
 */
export function findRoutes(
  { providers, catalog }: { readonly providers: ConnectedProviders; readonly catalog: Catalog },
  { model, mode, clientFormat }: RouteQuery,
): readonly [ChosenRoute, ...ChosenRoute[]] {
  const routes = catalog.liveRoutes(model).flatMap((route) => {
    const provider = providers.byName.get(route.provider);
    return provider ? [httpRoute(provider, { route, model, clientFormat })] : [];
  });
  if (mode === 'test') {
    const passFields = new Set([...model.passFields, ...routes.flatMap((route) => [...route.passFields])]);
    return [{ transport: 'sandbox', provider: providers.sandbox, upstreamModel: model.id, passFields }];
  }
  const [first, ...others] = routes;
  if (!first) throw modelNotFound(model.id);
  return [first, ...others];
}

/** As it is told: in headers, logs and books. */
export function providerNameOf(route: ChosenRoute): string {
  return route.transport === 'http' ? route.name.provider : 'sandbox';
}

export function modelNotFound(name: string): ApiError {
  const shown = name.length <= 100 ? name : `${name.slice(0, 100)}…`;
  return new ApiError(
    'model_not_found',
    `The model '${shown}' does not exist or is not switched on here. GET /v1/models lists what there is.`,
    {
      param: 'model',
    },
  );
}

type RouteOfModel = Pick<RouteQuery, 'model' | 'clientFormat'> & { readonly route: Route };

function httpRoute(provider: ConnectedProvider, { route, model, clientFormat }: RouteOfModel): HttpRoute {
  const { kind } = provider;
  const { api, upstreamModel, rank, weight, contextTokens, lacks } = route;
  const format = api ?? (kind.formats.includes(clientFormat) ? clientFormat : kind.formats[0]!);
  const name = { provider: provider.name, upstreamModel };
  const passFields = model.passFields.size === 0 ? provider.passFields : new Set([...provider.passFields, ...model.passFields]);
  return { transport: 'http', provider, kind, upstreamModel, format, name, rank, weight, contextTokens, lacks, passFields };
}
