// Parses a request for images: first its shape, which needs no model, then everything against the
// model.
import { Type, type Static } from 'typebox';
import { invalidRequest, refuseProblem, refuseField } from '../../canonical/errors.ts';
import type { ImageModel } from '../../terms/image-model.ts';
import { compileSchema } from '../../lib/schema.ts';
import { checkFamilyParameters } from './family-parameters.ts';
import type { ImageRequest, RawImageRequest } from './request-types.ts';
import { addressText } from '../../lib/address-text.ts';
import { optionalOrNull } from '../../lib/schema-parts.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';

const address = addressText({ minLength: 1 });
const optionalText = optionalOrNull(Type.String());

export const ImageRequestSchema = Type.Object({
  model: Type.String({ minLength: 1 }),
  prompt: Type.String({ minLength: 1 }),
  images: optionalOrNull(Type.Array(address)),
  /** As OpenAI has it in JSON, or as a text like the images. */
  mask: Type.Optional(Type.Union([address, Type.Object({ image_url: address }), Type.Null()])),
  n: optionalOrNull(Type.Integer({ minimum: 1 })),
  size: optionalText,
  quality: optionalText,
  aspect_ratio: optionalText,
  resolution: optionalText,
  output_format: optionalText,
  response_format: optionalOrNull(Type.Enum(['url', 'b64_json'])),
});

const findProblem = compileSchema(ImageRequestSchema);

/**
 * Checks the shape only, because the meaning of fields depends on the model. Throws ApiError
 * `invalid_request` naming the field.
 */
export function parseImageRequest(body: unknown): RawImageRequest {
  nameImages(body);
  refuseProblem(findProblem(body));
  const request = body as Static<typeof ImageRequestSchema>;
  if (request.prompt.trim() === '')
    throw invalidRequest('prompt', 'prompt must say what to draw; got blanks only');
  refuseFields(request);
  return {
    body: request,
    model: request.model,
    // Strict readers refuse half of a character.
    prompt: request.prompt.toWellFormed(),
    images: request.images ?? [],
    mask: isObject(request.mask) ? request.mask.image_url : (request.mask ?? null),
    count: request.n ?? null,
    size: request.size ?? null,
    quality: request.quality ?? null,
    aspectRatio: request.aspect_ratio ?? null,
    resolution: request.resolution ?? null,
    outputFormat: request.output_format ?? null,
    responseFormat: request.response_format ?? 'url',
    ignored: ignoredFieldsOf(request),
  };
}

/**
 * Takes `image`, as xAI's clients and others name it, for `images`, and replaces images in the
 * shape of OpenAI's edits (`{"image_url": "https://…"}`) or of xAI's (`{"url": …}`) by their
 * addresses: in place, because texts this long must not be kept twice.
 */
function nameImages(body: unknown): void {
  if (!isObject(body)) return;
  if (hasValue(body.image) && !hasValue(body.images)) {
    body.images = Array.isArray(body.image) ? body.image : [body.image];
    delete body.image;
  }
  const images = Array.isArray(body.images) ? body.images : [];
  for (const [index, image] of images.entries()) {
    const named: unknown = isObject(image) ? (image.image_url ?? image.url) : null;
    if (typeof named === 'string') images[index] = named;
  }
}

/**
 * Checks every field against the model and fills in defaults. Throws ApiError `invalid_request`
 * naming the field and its allowed values.
 */
export function checkImageRequest(raw: RawImageRequest, model: ImageModel): ImageRequest {
  checkPrompt(raw.prompt, model);
  checkInputImages(raw.images.length, model);
  if (raw.mask !== null) checkMask(model);
  return { ...raw, ...checkFamilyParameters(raw, model), count: countOf(raw, model) };
}

function checkPrompt(prompt: string, { promptCharactersMax: max }: ImageModel): void {
  if (prompt.length > max)
    refuseField('prompt', `must have at most ${max} characters; got ${prompt.length}`);
}

function countOf({ count }: RawImageRequest, { id, countMax }: ImageModel): number {
  if (count === null || count <= countMax) return count ?? 1;
  refuseField('n', `must be a whole number from 1 to ${countMax} for ${id}; got ${count}`);
}

function checkInputImages(
  count: number,
  { id, mode, inputImages: { min, max } }: ImageModel,
): void {
  if (count >= min && count <= max) return;
  const expected = `${expectedImages(id, mode, max)}; got ${count === 0 ? 'none' : count}`;
  throw invalidRequest('images', `images ${count === 0 ? 'is required:' : 'must be'} ${expected}`);
}

/** Only OpenAI's images have masks. */
function checkMask({ id, mode, family }: ImageModel): void {
  if (family === 'gpt-image' && mode !== 'text-to-image') return;
  throw invalidRequest(
    'mask',
    `mask is not supported by ${id}: say in the prompt which part of the image to change, or use a model of the family gpt-image that edits`,
  );
}

function expectedImages(id: string, mode: ImageModel['mode'], max: number): string {
  switch (mode) {
    case 'text-to-image':
      return `left out for ${id}, which draws from text alone; use an edit or reference model`;
    case 'edit':
      return `exactly 1 image to edit for ${id}, as a URL or a data URL (data:image/png;base64,…)`;
    case 'reference':
      return `1 to ${max} images to draw from for ${id}, as URLs or data URLs (data:image/png;base64,…)`;
  }
}

/**
 * Fields of OpenAI's image API that the gateway does not use and that change the result: which
 * values are refused, and the message. Harmless ones are dropped and listed.
 */
const refusals: Readonly<
  Record<string, [isRefused: (value: unknown) => boolean, message: string]>
> = {
  stream: [(value) => value !== false, 'must be false or left out: images are not streamed'],
  partial_images: [(value) => value !== 0, 'must be 0 or left out: images are not streamed'],
  background: [
    (value) => value !== 'auto' && value !== 'opaque',
    'must be `auto` or `opaque`, or left out: transparent backgrounds are not supported',
  ],
  markup: [() => true, 'is not supported: say in the prompt which part of the image to change'],
  image: [() => true, 'must be left out beside `images`'],
};

/** Values that ask for the default behaviour, so nothing is ignored. */
const withoutEffect: readonly (readonly [name: string, value: unknown])[] = [
  ['stream', false],
  ['partial_images', 0],
  ['background', 'auto'],
  ['moderation', 'auto'],
];

/** Throws ApiError `invalid_request` for a field that would change the image. */
function refuseFields(body: JsonObject): void {
  for (const [name, [isRefused, message]] of Object.entries(refusals)) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    if (hasValue(value) && isRefused(value)) throw invalidRequest(name, `${name} ${message}`);
  }
}

/** Returns the names of dropped fields that have a value, unknown ones included. */
function ignoredFieldsOf(body: JsonObject): readonly string[] {
  return Object.keys(body).filter(
    (name) =>
      !Object.hasOwn(ImageRequestSchema.properties, name) &&
      hasValue(body[name]) &&
      !withoutEffect.some(([known, value]) => known === name && value === body[name]),
  );
}

function hasValue(value: unknown): boolean {
  return (
    value !== undefined &&
    value !== null &&
    value !== '' &&
    !(isObject(value) && Object.keys(value).length === 0)
  );
}
