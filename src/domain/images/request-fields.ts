// Handles fields of OpenAI's image API that this gateway does not use. Fields that change the
// result are refused; harmless ones are dropped and listed. Only known fields are sent upstream.
import { invalidRequest } from '../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';

const readFields = new Set([
  'model',
  'prompt',
  'images',
  'n',
  'size',
  'quality',
  'aspect_ratio',
  'resolution',
  'output_format',
  'response_format',
]);

/** By field name: which values are refused, and the message. */
const refusals: Readonly<
  Record<string, { readonly isRefused: (value: unknown) => boolean; readonly message: string }>
> = {
  stream: {
    isRefused: (value) => value !== false,
    message: 'must be false or left out: images are not streamed',
  },
  partial_images: {
    isRefused: (value) => value !== 0,
    message: 'must be 0 or left out: images are not streamed',
  },
  background: {
    isRefused: (value) => value !== 'auto' && value !== 'opaque',
    message: 'must be `auto` or `opaque`, or left out: transparent backgrounds are not supported',
  },
  mask: {
    isRefused: () => true,
    message: 'is not supported: say in the prompt which part of the image to change',
  },
  markup: {
    isRefused: () => true,
    message: 'is not supported: say in the prompt which part of the image to change',
  },
  image: {
    isRefused: () => true,
    message: 'is not known here; send `images`, an array of URLs or data URLs',
  },
};

/** Values that ask for the default behaviour, so nothing is ignored. */
const withoutEffect: readonly (readonly [name: string, value: unknown])[] = [
  ['stream', false],
  ['partial_images', 0],
  ['background', 'auto'],
  ['moderation', 'auto'],
];

/** Throws ApiError `invalid_request` for a field that would change the image. */
export function refuseFields(body: JsonObject): void {
  for (const [name, { isRefused, message }] of Object.entries(refusals)) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    if (hasValue(value) && isRefused(value)) throw invalidRequest(name, `${name} ${message}`);
  }
}

/** Returns the names of dropped fields that have a value, unknown ones included. */
export function ignoredFieldsOf(body: JsonObject): readonly string[] {
  return Object.keys(body).filter(
    (name) =>
      !readFields.has(name) &&
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
