import { searchModelId, searchModelName } from '../../terms/web-search.ts';
import type { Catalog } from '../../domain/catalog/catalog.ts';

/**
 * Returns the display names of models by id, also the one of web searches. Models that left the
 * catalogue are missing.
 */
export function namesOfModels(
  catalog: Catalog,
  ids: readonly string[],
): ReadonlyMap<string, string> {
  const models = ids.map((id) => catalog.resolve(id) ?? catalog.images.resolve(id));
  return new Map([
    ...models.flatMap((model) => (model ? [[model.id, model.displayName] as const] : [])),
    [searchModelId, searchModelName],
  ]);
}
