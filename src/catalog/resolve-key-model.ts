// What the list of models of a key may name: models that talk, models that make images, and searches of the web.
import { searchModelId } from '../canonical/web-search.ts';
import type { Catalog } from './catalog.ts';

/** The id that a name stands for in such a list; null: there is none. */
export function resolveKeyModel(catalog: Catalog, name: string): string | null {
  if (name === searchModelId) return name;
  return (catalog.resolve(name) ?? catalog.images.resolve(name))?.id ?? null;
}
