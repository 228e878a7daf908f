// The model that a request names, and whether its key may use it: in this order, so that an unknown model is told before a forbidden one.
import { ApiError } from '../canonical/errors.ts';
import { searchModelId } from '../canonical/web-search.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Model } from '../catalog/model.ts';
import type { ApiKey } from '../keys/api-key.ts';
import { modelNotFound } from './route.ts';

/** Throws ApiError `model_not_found`. */
export function findModel(catalog: Catalog, name: string): Model {
  const model = catalog.resolve(name);
  if (!model) throw modelNotFound(name);
  return model;
}

/** Throws ApiError `account_frozen` or `model_not_allowed_for_key`. */
export function checkPermission(key: ApiKey, modelId: string): void {
  if (key.accountFrozen) throw new ApiError('account_frozen', 'This account is frozen. Contact the operator of this service.');
  if (key.models === null || key.models.has(modelId)) return;
  if (modelId === searchModelId) {
    throw new ApiError(
      'model_not_allowed_for_key',
      `This key may not search the web. Use another key; the operator allows it by \`${searchModelId}\` in the key's list of models.`,
    );
  }
  throw new ApiError(
    'model_not_allowed_for_key',
    `This key may not use the model '${modelId}'. GET /v1/models lists the models it may.`,
    { param: 'model' },
  );
}
