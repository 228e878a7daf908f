// Finds models that cannot run.
import type { ModelType } from '../../terms/model-type.ts';
import type { ImageModel } from '../../terms/image-model.ts';
import type { Catalog } from './catalog.ts';
import type { Model } from './model.ts';
import { listPricePpm, priceFor } from './price.ts';

export type EndingModel = {
  readonly id: string;
  readonly retiresAtMs: number;
  readonly successor: string | null;
};

export type CatalogProblem = {
  readonly id: string;
  readonly type: ModelType | 'image';
  /**
   * Without a current price a model never runs; without an enabled route it runs only for test
   * keys.
   */
  readonly problem: 'no-price' | 'no-route';
  readonly providers: readonly string[];
};

/** Returns the models with a live route whose provider named their last day, in catalogue order. */
export function endingModels({ images, ...chat }: Catalog): readonly EndingModel[] {
  return [
    ...chat.list().filter((model) => chat.liveRoutes(model).length > 0),
    ...images.list().filter((model) => images.liveRoutes(model).length > 0),
  ].flatMap(({ id, retirement }) => {
    const { retiresAtMs = null, successor = null } = retirement ?? {};
    return retiresAtMs === null ? [] : [{ id, retiresAtMs, successor }];
  });
}

/** Returns problems in catalogue order; a model may have both. */
export function checkCatalog(
  catalog: Catalog,
  { markup, nowMs }: { readonly markup: number; readonly nowMs: number },
): CatalogProblem[] {
  const at = { nowMs, markup, multiplierPpm: listPricePpm };
  return [
    ...problemsIn(catalog, (model) => priceFor(model, at) !== null),
    ...problemsIn(catalog.images, ({ price }) => price !== null),
  ];
}

type Kind<M> = {
  readonly list: () => readonly M[];
  readonly liveRoutes: (model: M) => readonly unknown[];
};

function problemsIn<M extends Model | ImageModel>(
  kind: Kind<M>,
  hasPrice: (model: M) => boolean,
): CatalogProblem[] {
  return kind.list().flatMap((model) => {
    const { id } = model;
    const type: CatalogProblem['type'] = 'type' in model ? model.type : 'image';
    const providers = [...new Set(model.routes.map(({ provider }) => provider))];
    const problemOf = (problem: CatalogProblem['problem']) => ({ id, type, problem, providers });
    return [
      ...(hasPrice(model) ? [] : [problemOf('no-price')]),
      ...(kind.liveRoutes(model).length > 0 ? [] : [problemOf('no-route')]),
    ];
  });
}
