// Parses a request for a moderation, in OpenAI's form.
import { Type } from 'typebox';
import { invalidRequest, refuseField } from '../../canonical/errors.ts';
import { addressText } from '../../lib/address-text.ts';
import { isObject } from '../../lib/json.ts';
import { optionalOrNull } from '../../lib/schema-parts.ts';
import { fieldReader, type TaskRequest } from './task-request.ts';

/** As OpenAI's, which is free too. */
const defaultModel = 'omni-moderation-latest';

/** A result is a kilobyte, also that of an empty text. */
const inputsMax = 1_000;

const Part = Type.Union([
  Type.Object({ type: Type.Literal('text'), text: Type.String() }),
  Type.Object({
    type: Type.Literal('image_url'),
    image_url: Type.Object({ url: addressText({ minLength: 1 }) }),
  }),
]);

export const ModerationRequestSchema = Type.Object({
  model: optionalOrNull(Type.String({ minLength: 1 })),
  input: Type.Union([Type.String(), Type.Array(Type.String()), Type.Array(Part)]),
});

const readFields = fieldReader(ModerationRequestSchema, 'input');

/** What is judged as one: a text, or the parts of one message. */
type Judged = { readonly text: string; readonly hasImage: boolean };

export type ModerationRequest = TaskRequest & {
  /** As the client wrote it, which is what hosts take. */
  readonly input: unknown;
  /** One for each result of the answer. */
  readonly judged: readonly Judged[];
};

/** Throws ApiError `invalid_request` that names the field. */
export function parseModerationRequest(body: unknown): ModerationRequest {
  const { fields, ignored } = readFields(body);
  return {
    body: fields,
    model: fields.model ?? defaultModel,
    input: fields.input,
    judged: readInput(fields.input),
    ignored,
  };
}

function readInput(input: unknown): readonly Judged[] {
  if (typeof input !== 'string' && !Array.isArray(input))
    refuseField('input', 'must be a text, a list of texts, or the parts of one message');
  const inputs: readonly unknown[] = Array.isArray(input) ? input : [input];
  if (inputs.length === 0) throw invalidRequest('input', 'input must not be an empty list');
  if (inputs.length > inputsMax)
    throw invalidRequest(
      'input',
      `input must be a list of at most ${inputsMax} entries; got ${inputs.length}. Send the others in further requests.`,
    );
  if (inputs.every((one) => typeof one === 'string'))
    return inputs.map((text) => ({ text, hasImage: false }));
  const parts = inputs.map((part, index) => {
    const { type, text, image_url: image } = isObject(part) ? part : {};
    if (type === 'text' && typeof text === 'string') return text;
    if (type === 'image_url' && isObject(image) && typeof image.url === 'string') return null;
    throw invalidRequest(
      'input',
      `input[${index}] must be a part of type text or image_url, or every entry a text`,
    );
  });
  const images = parts.filter((part) => part === null).length;
  if (images > 1)
    throw invalidRequest(
      'input',
      `input must have at most 1 image; got ${images}. Send the others in further requests.`,
    );
  return [{ text: parts.filter((part) => part !== null).join('\n'), hasImage: images > 0 }];
}
