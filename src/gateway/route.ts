// Which providers can serve a request, and in which wire format: the model's live routes, or the sandbox for a test key.
import { ApiError } from '../canonical/errors.ts';
import type { ClientFormatName, UpstreamFormatName } from '../canonical/format-name.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Model, Route } from '../catalog/model.ts';
import type { HttpProviderKind, SandboxProviderKind } from '../providers/provider.ts';
import type { ConnectedProvider, ConnectedProviders } from './providers.ts';
import type { RouteName } from './route-health.ts';

export type ChosenRoute = SandboxRoute | HttpRoute;

type SandboxRoute = {
  readonly transport: 'sandbox';
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
};

type RouteQuery = { readonly model: Model; readonly mode: 'live' | 'test'; readonly clientFormat: ClientFormatName };

/**
 * All that are switched on, by rank. Throws ApiError `model_not_found` when there is none: to a live key the model does not exist then.
 */
export function findRoutes(
  { providers, catalog }: { readonly providers: ConnectedProviders; readonly catalog: Catalog },
  { model, mode, clientFormat }: RouteQuery,
): readonly [ChosenRoute, ...ChosenRoute[]] {
  if (mode === 'test') return [{ transport: 'sandbox', provider: providers.sandbox, upstreamModel: model.id }];
  const routes = catalog.liveRoutes(model).flatMap((route) => {
    const provider = providers.byName.get(route.provider);
    return provider ? [httpRoute(provider, route, clientFormat)] : [];
  });
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

function httpRoute(provider: ConnectedProvider, route: Route, clientFormat: ClientFormatName): HttpRoute {
  const { kind } = provider;
  const { api, upstreamModel, rank, weight, contextTokens, lacks } = route;
  const format = api ?? (kind.formats.includes(clientFormat) ? clientFormat : kind.formats[0]!);
  const name = { provider: provider.name, upstreamModel };
  return { transport: 'http', provider, kind, upstreamModel, format, name, rank, weight, contextTokens, lacks };
}
