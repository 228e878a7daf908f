// The image model and the options of images that a model asks the gateway to draw.
import { ApiError, invalidRequest, quoted } from '../../canonical/errors.ts';
import { maximumPrice } from '../../domain/catalog/image-token-price.ts';
import type { PriceFactor } from '../../domain/catalog/price.ts';
import { checkImageRequest, parseImageRequest } from '../../domain/images/image-request.ts';
import type { ImageRequest } from '../../domain/images/request-types.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import type { HostedImages } from '../../formats/hosted-tools.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { Picos } from '../../lib/money.ts';
import type { ImageModel } from '../../terms/image-model.ts';
import type { Config } from '../../config/schema.ts';
import { priceFactorFor } from './price-factor.ts';
import type { Hosts } from './routing.ts';

export type AskedImages = {
  readonly imagesMax: number;
  /** The most that one image can cost. */
  readonly picosMax: Picos;
  /** Options without effect, to be listed. */
  readonly ignored: readonly string[];
  readonly model: ImageModel;
  /** For one image. The model writes its prompt later. */
  readonly request: ImageRequest;
  readonly factor: PriceFactor;
};

/** Drawing takes long, and each image costs more than most answers. */
const imagesByDefault = 3;
/** An answer holds its images in memory. */
const imagesPerRequestMax = 10;
/** A model describes an image in a few sentences. */
export const promptCharactersMax = 4_000;
/** Our upper estimate of such a text is at most 3.3 a character. */
export const promptTokensMax = 4 * promptCharactersMax;

/**
 * Returns null when no image model can draw, or the key may make no images. Throws ApiError for a model that the catalogue lacks
 * or the key may not use, and for options that it does not take.
 */
export function offerImages(
  program: { readonly hosts: Hosts; readonly config: Config },
  key: ApiKey,
  { tool, path, imagesMax }: HostedImages,
): AskedImages | null {
  if (key.scopes !== null && !key.scopes.has('images')) return null;
  const model = findDrawer(program.hosts, key, { name: tool.model, path });
  if (!model) return null;
  const { request, ignored } = underPath(path, () => readOptions(tool, model));
  const factor = priceFactorFor(program, key, model.id);
  const prompt = { upper: promptTokensMax, likely: promptTokensMax };
  const most = maximumPrice(model, { ...request, inputs: [] }, { prompt, factor });
  return (
    most && {
      imagesMax: Math.min(imagesMax ?? imagesByDefault, imagesPerRequestMax),
      picosMax: most.listPicos + most.request.listPicos,
      ignored: ignored.map((name) => `${path}.${name}`),
      model,
      request,
      factor,
    }
  );
}

/** Returns what decides which images the key may draw: an answer with one is for equal keys only. */
export function drawingRightsOf({ scopes, models }: ApiKey): string {
  if (scopes !== null && !scopes.has('images')) return 'none';
  return models === null ? 'any' : [...models].toSorted().join(' ');
}

/** Returns the named model, or the first of the catalogue that draws from text for this key. */
function findDrawer(
  { catalog: { images }, providers }: Hosts,
  key: ApiKey,
  { name, path }: { readonly name: unknown; readonly path: string },
): ImageModel | null {
  const isConnected = (model: ImageModel) =>
    images.liveRoutes(model).some(({ provider }) => providers.images.has(provider));
  const draws = (model: ImageModel) =>
    model.mode === 'text-to-image' &&
    model.price !== null &&
    !model.retirement?.isEnded &&
    (key.mode === 'test' || isConnected(model));
  const isAllowed = ({ id }: ImageModel) => key.models === null || key.models.has(id);
  if (typeof name !== 'string')
    return images.list().find((model) => draws(model) && isAllowed(model)) ?? null;
  const named = images.resolve(name);
  const param = `${path}.model`;
  if (!named || !draws(named))
    throw invalidRequest(
      param,
      `${param}: ${quoted(name)} draws no images from text here. Leave it out, or name one that does: GET /v1/models lists the models of type \`image\`.`,
    );
  if (isAllowed(named)) return named;
  const why = `${param}: this key may not use the model '${named.id}'. GET /v1/models lists the models it may.`;
  throw new ApiError('model_not_allowed_for_key', why, { param });
}

/** Reads the tool as a request for images. Throws ApiError `invalid_request`. */
function readOptions(
  tool: JsonObject,
  model: ImageModel,
): { readonly request: ImageRequest; readonly ignored: readonly string[] } {
  const { type: _type, partial_images: partial, action, input_image_mask: mask, ...fields } = tool;
  if (action === 'edit' || (mask ?? null) !== null)
    throw invalidRequest(
      action === 'edit' ? 'action' : 'input_image_mask',
      'asks to edit an image, but images are drawn from text alone here; use POST /v1/images/edits',
    );
  const body = { ...fields, model: model.id, prompt: 'x', response_format: 'b64_json', n: 1 };
  const request = checkImageRequest(parseImageRequest(body), model);
  return { request, ignored: [...request.ignored, ...(partial ? ['partial_images'] : [])] };
}

/** Names the fields of an error as those of the tool. */
function underPath<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ApiError) || error.param === null) throw error;
    throw invalidRequest(`${path}.${error.param}`, `${path}: ${error.message}`);
  }
}
