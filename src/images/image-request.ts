// A request for images: first its shape, which no model is needed for, then all of it against the model that it names.
import { Type, type Static } from 'typebox';
import { invalidRequest } from '../canonical/errors.ts';
import type { ImageFormat, ImageModel, ImageQuality, ImageResolution, PixelSize } from '../canonical/image-model.ts';
import { compileSchema } from '../lib/schema.ts';
import { checkFamilyParameters, type FamilyChoice } from './family-parameters.ts';
import { ignoredFieldsOf, refuseFields } from './request-fields.ts';
import { addressText } from '../lib/address-text.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** As the client wrote it, with the shape of every field checked; `null` counts as left out. */
export type RawImageRequest = {
  readonly body: JsonObject;
  readonly model: string;
  readonly prompt: string;
  /** URLs and data URLs: the body's own list. */
  readonly images: string[];
  readonly count: number | null;
  readonly size: string | null;
  readonly quality: string | null;
  readonly aspectRatio: string | null;
  readonly resolution: string | null;
  readonly outputFormat: string | null;
  readonly responseFormat: 'url' | 'b64_json';
  /** Fields of the body that are dropped without changing what the client gets. */
  readonly ignored: readonly string[];
};

/** What the model is asked for, every default filled in. Either size and quality, or aspect ratio and resolution. */
export type ImageRequest = {
  readonly body: JsonObject;
  /** As the client named it. */
  readonly model: string;
  readonly prompt: string;
  /** The body's own list, so that whoever has read it can let go of texts that are as long as the body. */
  readonly images: string[];
  readonly count: number;
  readonly size: PixelSize | null;
  readonly quality: ImageQuality | null;
  readonly aspectRatio: string | null;
  readonly resolution: ImageResolution | null;
  /** null: the upstream's own. */
  readonly outputFormat: ImageFormat | null;
  readonly responseFormat: 'url' | 'b64_json';
  readonly ignored: readonly string[];
};

/** SDKs send null for what was not set. */
const optionalText = Type.Optional(Type.Union([Type.String(), Type.Null()]));

const RequestSchema = Type.Object({
  model: Type.String({ minLength: 1 }),
  prompt: Type.String({ minLength: 1 }),
  images: Type.Optional(Type.Union([Type.Array(addressText({ minLength: 1 })), Type.Null()])),
  n: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
  size: optionalText,
  quality: optionalText,
  aspect_ratio: optionalText,
  resolution: optionalText,
  output_format: optionalText,
  response_format: Type.Optional(Type.Union([Type.Enum(['url', 'b64_json']), Type.Null()])),
});

const findProblem = compileSchema(RequestSchema);

/**
 * The shape alone: what the fields mean depends on the model.
 * Throws ApiError `invalid_request` naming the field.
 */
export function parseImageRequest(body: unknown): RawImageRequest {
  const problem = findProblem(body);
  if (problem) throw invalidRequest(problem.path || null, `${problem.path || 'the body'} ${problem.message}`);
  const request = body as Static<typeof RequestSchema>;
  if (request.prompt.trim() === '') throw invalidRequest('prompt', 'prompt must say what to draw; got blanks only');
  refuseFields(request);
  return {
    body: request,
    model: request.model,
    prompt: request.prompt,
    images: request.images ?? [],
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
 * Every field against what the model takes, with its defaults filled in.
 * Throws ApiError `invalid_request` naming the field and the values that it may have.
 */
export function checkImageRequest(raw: RawImageRequest, model: ImageModel): ImageRequest {
  const { body, prompt, images, responseFormat, ignored } = raw;
  checkPrompt(prompt, model);
  checkInputImages(images.length, model);
  const choice: FamilyChoice = checkFamilyParameters(raw, model);
  return { body, model: raw.model, prompt, images, count: countOf(raw, model), ...choice, responseFormat, ignored };
}

function checkPrompt(prompt: string, { promptCharactersMax: max }: ImageModel): void {
  if (prompt.length > max) throw invalidRequest('prompt', `prompt must have at most ${max} characters; got ${prompt.length}`);
}

function countOf({ count }: RawImageRequest, { id, countMax }: ImageModel): number {
  if (count === null || count <= countMax) return count ?? 1;
  throw invalidRequest('n', `n must be a whole number from 1 to ${countMax} for ${id}; got ${count}`);
}

function checkInputImages(count: number, { id, mode, inputImages: { min, max } }: ImageModel): void {
  if (count >= min && count <= max) return;
  throw invalidRequest('images', `${expectedImages(id, mode, max)}; got ${count === 0 ? 'none' : count}`);
}

function expectedImages(id: string, mode: ImageModel['mode'], max: number): string {
  switch (mode) {
    case 'text-to-image':
      return `images must be left out for ${id}, which draws from text alone; use an edit or reference model`;
    case 'edit':
      return `images is required for ${id}: exactly 1 image to edit, as a URL or a data URL (data:image/png;base64,…)`;
    case 'reference':
      return `images is required for ${id}: 1 to ${max} images to draw from, as URLs or data URLs (data:image/png;base64,…)`;
  }
}
