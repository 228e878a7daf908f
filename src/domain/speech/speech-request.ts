// Parses a request for speech, in OpenAI's form.
import { Type, type Static } from 'typebox';
import { invalidRequest } from '../../canonical/errors.ts';
import type { JsonObject } from '../../lib/json.ts';
import { compileSchema } from '../../lib/schema.ts';
import { speechFormatNames, type SpeechFormat } from '../../terms/speech.ts';

const orNull = <Schema extends Parameters<typeof Type.Union>[0][number]>(
  schema: Schema,
  description: string,
) => Type.Optional(Type.Union([schema, Type.Null()], { description }));

export const SpeechRequestSchema = Type.Object({
  model: Type.String({ minLength: 1 }),
  input: Type.String({ minLength: 1, description: 'The text to speak.' }),
  voice: Type.String({ minLength: 1, description: 'A voice of the vendor, by its name.' }),
  instructions: orNull(Type.String(), 'How to speak.'),
  response_format: orNull(
    Type.Enum([...speechFormatNames]),
    'Default: `mp3`, or the first that the provider makes.',
  ),
  speed: orNull(Type.Number({ minimum: 0.25, maximum: 4 }), 'Default: 1.'),
  stream_format: orNull(Type.Enum(['audio', 'sse']), '`audio`, the default: bytes. `sse`: events.'),
});

const findProblem = compileSchema(SpeechRequestSchema);
const knownFields = new Set(Object.keys(SpeechRequestSchema.properties));

export type SpeechRequest = {
  readonly body: JsonObject;
  readonly model: string;
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
  /** Fields that are left out. */
  readonly ignored: readonly string[];
};

/** Throws ApiError `invalid_request` that names the field. */
export function parseSpeechRequest(body: unknown): SpeechRequest {
  const problem = findProblem(body);
  if (problem)
    throw invalidRequest(problem.path || null, `${problem.path || 'the body'} ${problem.message}`);
  const fields = body as Static<typeof SpeechRequestSchema>;
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
    ignored: Object.keys(fields).filter((name) => !knownFields.has(name)),
  };
}

/** Of a well-formed text. */
function countCodePoints(text: string): number {
  return text.length - (text.match(/[\uD800-\uDBFF]/g)?.length ?? 0);
}
