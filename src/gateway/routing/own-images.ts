// The image model and the options of images that a model asks the gateway to draw.
import { ApiError, invalidRequest, quoted } from '../../canonical/errors.ts';
import { editSiblingOf } from '../../domain/catalog/image-catalog.ts';
import { maximumPrice } from '../../domain/catalog/image-token-price.ts';
import type { OwnKeyTerms, PriceFactor } from '../../domain/catalog/price.ts';
import { checkImageRequest, parseImageRequest } from '../../domain/images/image-request.ts';
import type { ImageRequest } from '../../domain/images/request-types.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import type { HostedImages } from '../../formats/hosted-tools.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { Picos } from '../../lib/money.ts';
import type { ImageModel } from '../../terms/image-model.ts';
import type { Config } from '../../config/schema.ts';
import { ownKeyTermsOf, priceFactorFor } from './price-factor.ts';
import type { Hosts } from './routing.ts';

export type AskedImages = {
  readonly imagesMax: number;
  /** The most that one image can cost. */
  readonly picosMax: Picos;
  /** Options without effect, to be listed. */
  readonly ignored: readonly string[];
  /** Draws from text; null: the client wants edits alone. */
  readonly draw: Drawer | null;
  /** Changes images of the conversation; null: there are none, or no model does it. */
  readonly edit: Editor | null;
};

export type Drawer = {
  readonly model: ImageModel;
  /** For one image. The model writes its prompt later. */
  readonly request: ImageRequest;
  readonly factor: PriceFactor;
  readonly ownKey: OwnKeyTerms;
};

export type Editor = Drawer & {
  /** The images of the conversation, as addresses and data URLs. */
  readonly inputs: readonly string[];
  /** How many of them one image may be made of. */
  readonly inputsMax: number;
};

/** Drawing takes long, and each image costs more than most answers. */
const imagesByDefault = 3;
/** An answer holds its images in memory. */
const imagesPerRequestMax = 10;
/** A model describes an image in a few sentences. */
export const promptCharactersMax = 4_000;
/** Our upper estimate of such a text is at most 3.3 a character. */
export const promptTokensMax = 4 * promptCharactersMax;

/** The hold has room for so many. */
const inputsPerImageMax = 4;

/**
 * Returns null when no image model can draw, or the key may make no images. Throws ApiError for a
 * model that the catalogue lacks or the key may not use, and for options that it does not take.
 */
export function offerImages(
  program: { readonly hosts: Hosts; readonly config: Config },
  key: ApiKey,
  { tool, path, imagesMax: asked, inputs, isStream }: HostedImages,
): AskedImages | null {
  if (key.scopes !== null && !key.scopes.has('images')) return null;
  const imagesMax = Math.min(asked ?? imagesByDefault, imagesPerRequestMax);
  return underPath(path, () => {
    // An image that the answer has drawn can be changed, too.
    const inputsMost = Math.min(inputs.length + imagesMax - 1, inputsPerImageMax);
    const models = findModels(program.hosts, key, { tool, inputs, inputsMost });
    const [draw = null, edit = null] = [models.draw, models.edit].map(
      (model) =>
        model && {
          model,
          ...readOptions(tool, model, isStream),
          factor: priceFactorFor(program, key, model.id),
          ownKey: ownKeyTermsOf(program),
        },
    );
    const inputsMax = Math.min(inputsMost, edit?.model.inputImages.max ?? 0);
    const most = [draw && mostOf(draw, 0), edit && mostOf(edit, inputsMax)];
    const prices = most.filter((picos) => picos !== null);
    if (prices.length === 0) return null;
    const highest = prices.reduce((one, other) => (one > other ? one : other));
    const picosMax = highest + (key.ownKeys.length > 0 ? ownKeyTermsOf(program).feePicos : 0n);
    const ignored = (draw ?? edit)!.ignored.map((name) => `${path}.${name}`);
    return { imagesMax, picosMax, ignored, draw, edit: edit && { ...edit, inputs, inputsMax } };
  });
}

/** Returns the most that an image of so many others can cost. */
function mostOf({ model, request, factor }: Drawer, inputs: number): Picos | null {
  const prompt = { upper: promptTokensMax, likely: promptTokensMax };
  const count = inputs + (request.mask === null ? 0 : 1);
  const image = { ...request, inputs: Array.from({ length: count }, () => null) };
  const most = maximumPrice(model, image, { prompt, factor });
  return most && most.listPicos + most.request.listPicos;
}

/** Returns what decides which images the key may draw: an answer with one is for equal keys only. */
export function drawingRightsOf({ scopes, models }: ApiKey): string {
  if (scopes !== null && !scopes.has('images')) return 'none';
  return models === null ? 'any' : [...models].toSorted().join(' ');
}

type Wanted = Pick<HostedImages, 'tool' | 'inputs'> & { readonly inputsMost: number };

/**
 * Returns the named model, or the first of the catalogue that the key may use, and the one beside it
 * that changes images.
 */
function findModels(
  { catalog: { images }, providers }: Hosts,
  key: ApiKey,
  { tool, inputs, inputsMost }: Wanted,
): Readonly<Record<'draw' | 'edit', ImageModel | null>> {
  const { model: name = null, action = null, input_image_mask: mask = null } = tool;
  if (name !== null && typeof name !== 'string')
    throw invalidRequest('model', 'model must be a string');
  if (!actions.includes(action))
    throw invalidRequest('action', 'action must be `auto`, `generate` or `edit`');
  const isConnected = (model: ImageModel) =>
    images.liveRoutes(model).some(({ provider }) => providers.images.has(provider));
  const runs = (model: ImageModel) =>
    model.price !== null &&
    !model.retirement?.isEnded &&
    (key.mode === 'test' || isConnected(model));
  const isAllowed = ({ id }: ImageModel) => key.models === null || key.models.has(id);
  const draws = ({ mode }: ImageModel) => mode === 'text-to-image';
  const isNamed = name !== null;
  const model = isNamed
    ? images.resolve(name)
    : (images.list().find((one) => draws(one) && runs(one) && isAllowed(one)) ?? null);
  const sibling = model && editSiblingOf(images, model, inputsMost);
  const mayEdit = inputs.length > 0 && action !== 'generate' && sibling && !draws(sibling);
  const edit = mayEdit && runs(sibling) && isAllowed(sibling) ? sibling : null;
  const draw = action !== 'edit' && model && draws(model) && runs(model) ? model : null;
  const lacksImage = model && action === 'edit' && inputs.length === 0;
  if (isNamed && !draw && !edit && !lacksImage)
    throw invalidRequest(
      'model',
      `${quoted(name)} draws no images in this way here. Leave it out, or name one that does: GET /v1/models lists the models of type \`image\`.`,
    );
  if (model && !isAllowed(model))
    throw new ApiError(
      'model_not_allowed_for_key',
      `this key may not use the model '${model.id}'. GET /v1/models lists the models it may.`,
      { param: 'model' },
    );
  const editing = mask === null ? action === 'edit' && 'action' : 'input_image_mask';
  if (model && editing && !edit)
    throw invalidRequest(
      editing,
      `${editing} needs an image in \`input\` to edit, as an input_image or an earlier image_generation_call with its result, and a model that edits`,
    );
  return { draw, edit };
}

const actions: readonly unknown[] = [null, 'auto', 'generate', 'edit'];

/** Reads the tool as a request for images. Throws ApiError `invalid_request`. */
function readOptions(
  tool: JsonObject,
  model: ImageModel,
  isStream: boolean,
): { readonly request: ImageRequest; readonly ignored: readonly string[] } {
  const { type: _, action: _a, partial_images: partial, input_image_mask: mask, ...fields } = tool;
  if (isObject(mask) && typeof mask.image_url !== 'string')
    throw invalidRequest('mask', 'input_image_mask must have an image_url: no files are kept here');
  const edited = model.mode === 'text-to-image' ? {} : { images: ['x'], mask };
  const own = { model: model.id, prompt: 'x', response_format: 'b64_json', n: 1 };
  const request = checkImageRequest(parseImageRequest({ ...fields, ...own, ...edited }), model);
  const partials = (partial ?? 0) as number;
  if (![0, 1, 2, 3].includes(partials))
    throw invalidRequest('partial_images', 'partial_images must be a whole number from 0 to 3');
  // Only a price by tokens covers them.
  const hasPartials = isStream && (model.price?.tokens ?? null) !== null;
  const ignored = partials > 0 && !hasPartials ? ['partial_images'] : [];
  return {
    request: { ...request, ...(hasPartials && { partials }) },
    ignored: [...request.ignored, ...ignored],
  };
}

/** Names the fields of an error as those of the tool. */
function underPath<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ApiError) || error.param === null) throw error;
    const param = error.param.replace(/^mask\b/, 'input_image_mask');
    throw new ApiError(error.code, `${path}: ${error.message}`, { param: `${path}.${param}` });
  }
}
