// The names of all routes, for which the threads of a process share records.
import { searchModelId } from '../../terms/web-search.ts';
import { reservedProviderName } from '../../config/known-providers.ts';
import type { Config } from '../../config/schema.ts';
import type { Catalog } from '../../domain/catalog/catalog.ts';
import type { RouteName } from '../calling/shared-health.ts';

/** Returns the names of all routes that requests can take: of models, images and searches. */
export function routeNamesOf({ search }: Config, catalog: Catalog): RouteName[] {
  const names = [
    ...catalog.list().flatMap(({ routes }) =>
      routes.flatMap(({ provider, upstreamModel }) => [
        { provider, upstreamModel },
        { provider: reservedProviderName, upstreamModel },
      ]),
    ),
    ...catalog.images.list().flatMap(({ routes }) =>
      routes.flatMap(({ provider, upstreamModels }) =>
        // A request without a quality or resolution has no name for its model.
        ['', ...Object.values(upstreamModels)].map((upstreamModel) => ({
          provider,
          upstreamModel,
        })),
      ),
    ),
    ...search.providers.map((provider) => ({ provider, upstreamModel: searchModelId })),
  ];
  return [...new Map(names.map((name) => [JSON.stringify(name), name])).values()];
}
