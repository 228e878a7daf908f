// Counts a request's input without running it, like Anthropic's `POST /v1/messages/count_tokens`
// (https://platform.claude.com/docs/en/api/messages/count_tokens): a Messages request without the
// fields that only affect the answer.
import { Type } from 'typebox';
import { readTokenCount } from '../../canonical/usage.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { compileSchema } from '../../lib/schema.ts';
import { isAskedFor } from '../field-verdicts.ts';
import type { ClientRequest, InputCount, UpstreamRequest, UpstreamTarget } from '../format.ts';
import { optional } from '../schema-parts.ts';
import { refuseProblem } from './parse-request.ts';
import { relayRequest } from './relay-request.ts';
import { requestSchema, type MessagesRequest } from './schema.ts';

export const countRequestSchema = Type.Object({
  ...requestSchema.properties,
  max_tokens: optional(requestSchema.properties.max_tokens),
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
 * The request as it would run, with the model's full output, so that the count is what would be
 * billed.
 */
function asRunning(
  request: ClientRequest<MessagesRequest>,
  maxOutputTokens: number,
): ClientRequest<MessagesRequest> {
  return { ...request, body: { ...request.body, max_tokens: maxOutputTokens } };
}

/**
 * Throws ApiError `invalid_request` on what the shared upstream credential must not pass, as when
 * the request runs.
 */
export function writeCountRequest(
  request: ClientRequest<MessagesRequest>,
  target: UpstreamTarget,
): UpstreamRequest {
  const { body, ignored } = relayRequest(asRunning(request, target.maxOutputTokens), target);
  return {
    body: withoutAnswerFields(body),
    ignored: [...new Set([...ignoredAnswerFields(request), ...ignored])],
  };
}

function withoutAnswerFields(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !answerFields.includes(name)));
}

/** Returns the answer fields that were sent. */
export function ignoredAnswerFields({ body }: ClientRequest): readonly string[] {
  return answerFields.filter((name) => isAskedFor(body[name]));
}

/** Returns null when the body is no count. */
export function readCount(body: unknown): number | null {
  return isObject(body) ? readTokenCount(body.input_tokens) : null;
}

export const inputCount: InputCount = { write: withoutAnswerFields, read: readCount };
