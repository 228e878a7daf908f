// Finds the model of a request, then checks that its key may use it. An unknown model is reported
// before a forbidden one.
import { accountFrozen, ApiError, quoted } from '../../canonical/errors.ts';
import { searchModelId } from '../../terms/web-search.ts';
import { listModels } from '../../domain/catalog/listing.ts';
import type { Model } from '../../domain/catalog/model.ts';
import { nearestModelId } from '../../domain/catalog/nearest-model.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import type { Gateway } from '../gateway.ts';
import { modelNotFound } from '../routing/route.ts';

/** Throws ApiError `model_not_found`. */
export function findModel(gateway: Gateway, key: ApiKey, name: string): Model {
  const { catalog } = gateway.hosts;
  const model = catalog.resolve(name);
  if (model) return model;
  if (!catalog.images.resolve(name)) throw unknownModel(gateway, { key, name, type: 'model' });
  throw new ApiError(
    'model_not_found',
    `The model ${quoted(name)} makes images: send a prompt to POST /v1/images/generations. GET /v1/models lists the chat models.`,
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
  }: { readonly key: ApiKey; readonly name: string; readonly type: 'model' | 'image' },
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
