// Finds the model of a request, then checks that its key may use it. An unknown model is reported
// before a forbidden one.
import { accountFrozen, ApiError, quoted } from '../../canonical/errors.ts';
import { searchModelId } from '../../terms/web-search.ts';
import { modelTypes, type ModelType } from '../../terms/model-type.ts';
import { listedType, listModels, type ListedType } from '../../domain/catalog/listing.ts';
import type { Model } from '../../domain/catalog/model.ts';
import { nearestModelId } from '../../domain/catalog/nearest-model.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import type { Gateway } from '../gateway.ts';
import { modelNotFound } from '../routing/route.ts';

/** Throws ApiError `model_not_found`, which names the endpoint of a model of another type. */
export function findModel(
  gateway: Gateway,
  key: ApiKey,
  name: string,
  type: ModelType = 'chat',
): Model {
  const { catalog } = gateway.hosts;
  const model = catalog.resolve(name);
  if (model?.type === type) return model;
  const isImage = !model && catalog.images.resolve(name) !== null;
  if (!model && !isImage) throw unknownModel(gateway, { key, name, type: listedType(type) });
  throw otherTypeOfModel(
    name,
    model ? modelTypes[model.type] : { makes: 'makes images', path: '/v1/images/generations' },
  );
}

/** Returns the error for a model that another endpoint sells. */
export function otherTypeOfModel(
  name: string,
  { makes, path }: { readonly makes: string; readonly path: string },
): ApiError {
  return new ApiError(
    'model_not_found',
    `The model ${quoted(name)} ${makes}: use POST ${path}. GET /v1/models lists the models with their types.`,
    { param: 'model' },
  );
}

/** Returns the error, which names the nearest model that the key may use. */
export function unknownModel(
  { hosts: { catalog }, clock }: Gateway,
  {
    key: { mode, models },
    name,
    type,
  }: { readonly key: ApiKey; readonly name: string; readonly type: ListedType },
): ApiError {
  const { data } = listModels(catalog, { mode, models, nowMs: clock.nowMs() });
  const ids = data.flatMap((entry) => (entry.type === type ? [entry.id] : []));
  return modelNotFound(name, nearestModelId(name, ids));
}

/** Throws ApiError `account_frozen` or `model_not_allowed_for_key`. */
export function checkPermission(key: ApiKey, modelId: string): void {
  if (key.accountFrozen) throw accountFrozen();
  // A list of models says nothing about searches, which have no model.
  if (modelId === searchModelId || key.models === null || key.models.has(modelId)) return;
  throw new ApiError(
    'model_not_allowed_for_key',
    `This key may not use the model '${modelId}'. GET /v1/models lists the models it may.`,
    { param: 'model' },
  );
}
