// Counts a request's input without running it, like Anthropic's `POST /v1/messages/count_tokens`
// (https://platform.claude.com/docs/en/api/messages/count_tokens): a Messages request without the
// fields that only affect the answer.
import { Type } from 'typebox';
import { readTokenCount } from '../../canonical/usage.ts';
import { type JsonObject, objectOf } from '../../lib/json.ts';
import { compileSchema } from '../../lib/schema.ts';
import { optionalOrNull } from '../../lib/schema-parts.ts';
import { isAskedFor } from '../field-verdicts.ts';
import type { ClientRequest, InputCount } from '../format.ts';
import { refuseProblem } from '../../canonical/errors.ts';
import { requestSchema, type MessagesRequest } from './schema.ts';

export const countRequestSchema = Type.Object({
  ...requestSchema.properties,
  max_tokens: optionalOrNull(requestSchema.properties.max_tokens),
});

const findProblem = compileSchema(countRequestSchema);

/**
 * Fields that only affect the answer. Anthropic's counting endpoint refuses them; ours accepts
 * them, so that one body works for both endpoints.
 */
const answerFields = [
  'max_tokens',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'metadata',
  'service_tier',
];

/** Throws ApiError `invalid_request` that names the field. `max_tokens` may be left out. */
export function parseCountRequest(body: unknown): ClientRequest<MessagesRequest> {
  refuseProblem(findProblem(body));
  const request = body as MessagesRequest & JsonObject;
  return {
    body: request,
    model: request.model,
    stream: false,
    maxOutputTokens: null,
    choices: 1,
    thinkingBudgetTokens: 0,
  };
}

/**
 * Returns the request as it would run, with the model's full output, so that the count is what would
 * be billed.
 */
export function asRunning<Request extends ClientRequest>(
  request: Request,
  maxOutputTokens: number,
): Request {
  return { ...request, body: { ...request.body, max_tokens: maxOutputTokens } };
}

function withoutAnswerFields(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !answerFields.includes(name)));
}

/** Returns the answer fields that were sent. */
export function ignoredAnswerFields({ body }: ClientRequest): readonly string[] {
  return answerFields.filter((name) => isAskedFor(body[name]));
}

/** Returns null when the body is no count. */
function readCount(body: unknown): number | null {
  return readTokenCount(objectOf(body).input_tokens);
}

export const inputCount: InputCount = { write: withoutAnswerFields, read: readCount };
