// Models of one kind, chat or images: their resolution from client names, and the routes that work.
import type { Retirement } from '../../terms/retirement.ts';
import { resolveVariant } from './names.ts';

type Routed<Route> = {
  readonly id: string;
  readonly ownedBy: string;
  readonly retirement: Retirement | null;
  readonly routes: readonly Route[];
};

export type RoutedModels<Model, Route> = {
  /**
   * Resolves a client's name: an id, an alias, `vendor/id`, or an id with a date or `-latest`. null
   * when no model or several match.
   */
  readonly resolve: (name: string) => Model | null;
  /** Routes with an enabled provider, in order. */
  readonly liveRoutes: (model: Model) => readonly Route[];
  /**
   * Every model, runnable or not, except those that the operator ended: the built-in ones first, in
   * their order.
   */
  readonly list: () => readonly Model[];
  readonly aliases: ReadonlyMap<string, Model>;
};

export type RoutedModelsParts<Model> = {
  readonly models: readonly Model[];
  readonly aliases: ReadonlyMap<string, Model>;
  /** The names of the enabled providers. */
  readonly liveProviders: ReadonlySet<string>;
};

export function createRoutedModels<
  Model extends Routed<Route>,
  Route extends { readonly provider: string },
>({ models, aliases, liveProviders }: RoutedModelsParts<Model>): RoutedModels<Model, Route> {
  const byId = new Map(models.map((model) => [model.id, model]));
  const liveRoutes = new Map(
    models.map((model) => [
      model,
      model.routes.filter(({ provider }) => liveProviders.has(provider)),
    ]),
  );
  const named = (name: string) => byId.get(name) ?? aliases.get(name);
  const isSold = ({ retirement }: Model) => !retirement?.isEnded;
  const sold = models.filter(isSold);
  return {
    resolve(name) {
      // Claude Desktop's mark for a context window of a million tokens, which chooses no other model:
      // github.com/ollama/ollama/issues/18180 (read 2026-11-30).
      const plain = name.replace(/\[1m\]$/, '');
      return named(name) ?? named(plain) ?? resolveVariant(byId, plain);
    },
    liveRoutes: (model) => liveRoutes.get(model) ?? [],
    list: () => sold,
    aliases: new Map([...aliases].filter(([, model]) => isSold(model))),
  };
}
