// Checks of `image_models` that a schema cannot express. Checks that need the built-in catalogue
// run when the two are merged.
import { isImageKind, providerKindNames } from '../terms/provider-kind.ts';
import type { FieldPath } from './config-error.ts';
import { checkDecimals } from './decimals.ts';
import type { FaultAt, FieldValues } from './field-values.ts';
import type { ImagePricesEntry, ImageRouteEntry } from './image-model-schema.ts';
import { knownProviders } from './known-providers.ts';
import { checkDay, kindOfRoute } from './models.ts';

/**
 * Throws ConfigError for a route to an unknown provider or one that makes no images, and for a
 * price that cannot be stored exactly.
 */
export function checkImageModels({ fields, faultAt }: FieldValues): void {
  for (const [id, entry] of Object.entries(fields.image_models)) {
    for (const [index, route] of (entry.routes ?? []).entries()) {
      checkRoute(faultAt, fields.providers, { route, path: ['image_models', id, 'routes', index] });
    }
    checkDay(faultAt, entry.created, ['image_models', id, 'created']);
    if (entry.prices) checkPrices(faultAt, entry.prices, ['image_models', id, 'prices']);
  }
}

function checkRoute(
  faultAt: FaultAt,
  providers: FieldValues['fields']['providers'],
  { route, path }: { readonly route: ImageRouteEntry; readonly path: FieldPath },
): void {
  const { provider, model, models } = route;
  const usual = Object.keys(knownProviders);
  const kind = kindOfRoute(faultAt, providers, { provider, path, usual });
  if (kind && !isImageKind(kind)) {
    throw faultAt([...path, 'provider'], {
      problem: `must be a provider that makes images; ${provider} is of kind \`${kind}\`, which does not`,
      remedy: `Use one of kind ${kindsWithImages.map((name) => `\`${name}\``).join(', ')}.`,
    });
  }
  if ((model === undefined) !== (models === undefined)) return;
  throw faultAt(path, {
    problem:
      model === undefined ? 'has neither `model` nor `models`' : 'has both `model` and `models`',
    remedy:
      'Write `model` where one model makes every quality or resolution, else `models: { low: …, medium: …, high: … }`.',
  });
}

const kindsWithImages = providerKindNames.filter(isImageKind);

/** Prices are stored in microdollars. */
function checkPrices(faultAt: FaultAt, prices: ImagePricesEntry, path: FieldPath): void {
  const { output, further_megapixel: further, input_image: input } = prices;
  checkDecimals(faultAt, output, [...path, 'output'], ofImages);
  checkDecimals(faultAt, further ?? {}, [...path, 'further_megapixel'], ofImages);
  if (typeof input === 'number') checkDecimals(faultAt, { input_image: input }, path, ofImages);
  else checkDecimals(faultAt, input ?? {}, [...path, 'input_image'], ofImages);
}

const ofImages = { remedy: 'The price is USD an image: five cents are 0.05.' };
