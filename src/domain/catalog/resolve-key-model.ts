// Resolves the names in a key's model list: chat models, image models and the web search.
import { searchModelId } from '../../terms/web-search.ts';
import type { Catalog } from './catalog.ts';

export function resolveKeyModel(catalog: Catalog, name: string): string | null {
  if (name === searchModelId) return name;
  return (catalog.resolve(name) ?? catalog.images.resolve(name))?.id ?? null;
}

/**
 * Returns catalogue ids without duplicates. Aliases are resolved now: a key does not follow later
 * changes of an alias. Throws `unknown(name)` for the first unknown name.
 */
export function resolveKeyModels(
  catalog: Catalog,
  names: readonly string[],
  unknown: (name: string) => Error,
): string[] {
  const ids = names.map((name) => {
    const id = resolveKeyModel(catalog, name);
    if (id === null) throw unknown(name);
    return id;
  });
  return [...new Set(ids)];
}
