// Fields of OpenAI's image API beside those that a request here is made of: which change what the client gets, and are refused, and
// which are harmless, and are dropped and listed. Only what is understood is ever sent on.
import { invalidRequest } from '../canonical/errors.ts';
import { isObject } from '../lib/json.ts';

type JsonObject = Readonly<Record<string, unknown>>;

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

/** By name: whether a value asks for what cannot be had, and what to say then. */
const refusals: Readonly<Record<string, { readonly isRefused: (value: unknown) => boolean; readonly message: string }>> = {
  stream: { isRefused: (value) => value !== false, message: 'must be false or left out: images are not streamed' },
  partial_images: { isRefused: (value) => value !== 0, message: 'must be 0 or left out: images are not streamed' },
  background: {
    isRefused: (value) => value !== 'auto' && value !== 'opaque',
    message: 'must be `auto` or `opaque`, or left out: transparent backgrounds are not supported',
  },
  mask: { isRefused: () => true, message: 'is not supported: say in the prompt which part of the image to change' },
  markup: { isRefused: () => true, message: 'is not supported: say in the prompt which part of the image to change' },
  image: { isRefused: () => true, message: 'is not known here; send `images`, an array of URLs or data URLs' },
};

/** What of the fields above asks for nothing: it is what happens anyway. */
const withoutEffect: readonly (readonly [name: string, value: unknown])[] = [
  ['stream', false],
  ['partial_images', 0],
  ['background', 'auto'],
  ['moderation', 'auto'],
];

/** Throws ApiError `invalid_request` for a field that would change what is drawn, were it understood. */
export function refuseFields(body: JsonObject): void {
  for (const [name, { isRefused, message }] of Object.entries(refusals)) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    if (isGiven(value) && isRefused(value)) throw invalidRequest(name, `${name} ${message}`);
  }
}

/** The fields that are dropped, unknown ones included, when they hold anything. */
export function ignoredFieldsOf(body: JsonObject): readonly string[] {
  return Object.keys(body).filter(
    (name) =>
      !readFields.has(name) &&
      isGiven(body[name]) &&
      !withoutEffect.some(([known, value]) => known === name && value === body[name]),
  );
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && !(isObject(value) && Object.keys(value).length === 0);
}
