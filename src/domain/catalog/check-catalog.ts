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
  const hasPrice = (model: Model) =>
    priceFor(model, { nowMs, markup, multiplierPpm: listPricePpm }) !== null;
  return [
    ...catalog
      .list()
      .flatMap((model) => [
        ...(hasPrice(model) ? [] : [problemOf(model, model.type, 'no-price')]),
        ...(catalog.liveRoutes(model).length > 0 ? [] : [problemOf(model, model.type, 'no-route')]),
      ]),
    ...catalog.images
      .list()
      .flatMap((model) => [
        ...(model.price ? [] : [problemOf(model, 'image', 'no-price')]),
        ...(catalog.images.liveRoutes(model).length > 0
          ? []
          : [problemOf(model, 'image', 'no-route')]),
      ]),
  ];
}

function problemOf(
  { id, routes }: Model | ImageModel,
  type: CatalogProblem['type'],
  problem: CatalogProblem['problem'],
): CatalogProblem {
  return { id, type, problem, providers: [...new Set(routes.map((route) => route.provider))] };
}
