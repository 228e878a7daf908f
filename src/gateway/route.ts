// Which provider serves a request, and in which wire format: the model's first live route, or the sandbox for a test key.
import { ApiError } from '../canonical/errors.ts';
import type { ClientFormatName, UpstreamFormatName } from '../canonical/format-name.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Model, Route } from '../catalog/model.ts';
import type { HttpProviderKind, SandboxProviderKind } from '../providers/provider.ts';
import type { ConnectedProvider, ConnectedProviders } from './providers.ts';

export type ChosenRoute =
  | { readonly transport: 'sandbox'; readonly provider: SandboxProviderKind; readonly upstreamModel: string }
  | {
      readonly transport: 'http';
      readonly provider: ConnectedProvider;
      readonly kind: HttpProviderKind;
      readonly upstreamModel: string;
      readonly format: UpstreamFormatName;
    };

/** Throws ApiError `model_not_found` when no route of the model is switched on: to a live key the model does not exist then. */
export function chooseRoute(
  { providers, catalog }: { readonly providers: ConnectedProviders; readonly catalog: Catalog },
  request: { readonly model: Model; readonly mode: 'live' | 'test'; readonly clientFormat: ClientFormatName },
): ChosenRoute {
  const { model, mode, clientFormat } = request;
  if (mode === 'test') return { transport: 'sandbox', provider: providers.sandbox, upstreamModel: model.id };
  const [route] = catalog.liveRoutes(model);
  const provider = route && providers.byName.get(route.provider);
  if (!provider) throw modelNotFound(model.id);
  return httpRoute(provider, route, clientFormat);
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

function httpRoute(provider: ConnectedProvider, route: Route, clientFormat: ClientFormatName): ChosenRoute {
  const { kind } = provider;
  const format = route.api ?? (kind.formats.includes(clientFormat) ? clientFormat : kind.formats[0]!);
  return { transport: 'http', provider, kind, upstreamModel: route.upstreamModel, format };
}
