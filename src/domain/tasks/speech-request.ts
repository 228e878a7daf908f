// Parses a request for speech, in OpenAI's form.
import { Type } from 'typebox';
import { invalidRequest } from '../../canonical/errors.ts';
import { speechFormatNames, type SpeechFormat } from '../../terms/speech.ts';
import { optionalOrNull } from '../../lib/schema-parts.ts';
import { fieldReader, type TaskRequest } from './task-request.ts';

export const SpeechRequestSchema = Type.Object({
  model: Type.String({ minLength: 1 }),
  input: Type.String({ minLength: 1, description: 'The text to speak.' }),
  voice: Type.String({ minLength: 1, description: 'A voice of the vendor, by its name.' }),
  instructions: optionalOrNull(Type.String(), 'How to speak.'),
  response_format: optionalOrNull(
    Type.Enum([...speechFormatNames]),
    'Default: `mp3`, or the first that the provider makes.',
  ),
  speed: optionalOrNull(Type.Number({ minimum: 0.25, maximum: 4 }), 'Default: 1.'),
  stream_format: optionalOrNull(
    Type.Enum(['audio', 'sse']),
    '`audio`, the default: bytes. `sse`: events.',
  ),
});

const readFields = fieldReader(SpeechRequestSchema);

export type SpeechRequest = TaskRequest & {
  readonly input: string;
  /** Unicode code points of the input, which vendors bill. */
  readonly characters: number;
  readonly voice: string;
  readonly instructions: string | null;
  /** null: the host's usual one. */
  readonly format: SpeechFormat | null;
  readonly speed: number | null;
  /** The audio comes as server-sent events. */
  readonly isEvents: boolean;
};

/** Throws ApiError `invalid_request` that names the field. */
export function parseSpeechRequest(body: unknown): SpeechRequest {
  const { fields, ignored } = readFields(body);
  const input = fields.input.toWellFormed();
  if (input.trim() === '') throw invalidRequest('input', 'input must have words to speak');
  return {
    body: fields,
    model: fields.model,
    input,
    characters: countCodePoints(input),
    voice: fields.voice,
    instructions: fields.instructions?.trim() || null,
    format: fields.response_format ?? null,
    speed: fields.speed ?? null,
    isEvents: fields.stream_format === 'sse',
    ignored,
  };
}

/** Of a well-formed text. */
function countCodePoints(text: string): number {
  return text.length - (text.match(/[\uD800-\uDBFF]/g)?.length ?? 0);
}
