// What the list of models of a key may name: models that talk, models that make images, and searches of the web.
import { searchModelId } from '../canonical/web-search.ts';
import type { Catalog } from './catalog.ts';

export type KeyModel = {
  readonly id: string;
  readonly name: string;
  readonly kind: 'chat' | 'image' | 'web-search';
  readonly owned_by: string;
  readonly aliases: readonly string[];
  /** Whether live keys can run it now. */
  readonly live: boolean;
};

/** In the catalogue's order. `isSearchLive`: whether a provider of searches is switched on. */
export function listKeyModels(catalog: Catalog, isSearchLive: boolean): readonly KeyModel[] {
  const aliasesOf = (aliases: ReadonlyMap<string, { readonly id: string }>, id: string) =>
    [...aliases].filter(([, model]) => model.id === id).map(([alias]) => alias);
  return [
    ...catalog.list().map((model) => ({
      id: model.id,
      name: model.displayName,
      kind: 'chat' as const,
      owned_by: model.ownedBy,
      aliases: aliasesOf(catalog.aliases, model.id),
      live: catalog.liveRoutes(model).length > 0,
    })),
    ...catalog.images.list().map((model) => ({
      id: model.id,
      name: model.displayName,
      kind: 'image' as const,
      owned_by: model.ownedBy,
      aliases: aliasesOf(catalog.images.aliases, model.id),
      live: catalog.images.liveRoutes(model).length > 0,
    })),
    { id: searchModelId, name: 'Web search', kind: 'web-search', owned_by: '', aliases: [], live: isSearchLive },
  ];
}

/** The id that a name stands for in such a list; null: there is none. */
export function resolveKeyModel(catalog: Catalog, name: string): string | null {
  if (name === searchModelId) return name;
  return (catalog.resolve(name) ?? catalog.images.resolve(name))?.id ?? null;
}
