// Counting a request's input without running it, as Anthropic's `POST /v1/messages/count_tokens` does
// (https://platform.claude.com/docs/en/api/messages/count_tokens): a Messages request without what only an answer needs.
import { Type } from 'typebox';
import { readTokenCount } from '../../canonical/usage.ts';
import { isObject } from '../../lib/json.ts';
import { compileSchema } from '../../lib/schema.ts';
import { isAskedFor } from '../field-verdicts.ts';
import type { ClientRequest, UpstreamRequest, UpstreamTarget } from '../format.ts';
import { optional } from '../schema-parts.ts';
import { refuseProblem } from './parse-request.ts';
import { relayRequest } from './relay-request.ts';
import { requestSchema, type MessagesRequest } from './schema.ts';

const findProblem = compileSchema(
  Type.Object({ ...requestSchema.properties, max_tokens: optional(requestSchema.properties.max_tokens) }),
);

/** What only an answer needs. Anthropic's endpoint refuses these; here one body serves for both endpoints. */
const answerFields = ['max_tokens', 'stream', 'temperature', 'top_p', 'top_k', 'stop_sequences', 'metadata', 'service_tier'];

/** Throws ApiError `invalid_request` that names the field. `max_tokens` may be left out. */
export function parseCountRequest(body: unknown): ClientRequest {
  refuseProblem(findProblem(body));
  const request = body as MessagesRequest;
  return { body: request, model: request.model, stream: false, maxOutputTokens: null, choices: 1, thinkingBudgetTokens: 0 };
}

/** The request as it would run, with as much output as the model gives: so what is counted is what would be billed. */
export function asRunning(request: ClientRequest, maxOutputTokens: number): ClientRequest {
  return { ...request, body: { ...request.body, max_tokens: maxOutputTokens } };
}

/** Throws ApiError `invalid_request` on what the shared upstream credential must not pass, as it would when the request ran. */
export function writeCountRequest(request: ClientRequest, target: UpstreamTarget): UpstreamRequest {
  const { body, ignored } = relayRequest(asRunning(request, target.maxOutputTokens), target);
  const counted = Object.fromEntries(Object.entries(body).filter(([name]) => !answerFields.includes(name)));
  return { body: counted, ignored: [...new Set([...ignoredAnswerFields(request), ...ignored])] };
}

/** Those of them that were sent. */
export function ignoredAnswerFields({ body }: ClientRequest): readonly string[] {
  return answerFields.filter((name) => isAskedFor(body[name]));
}

/** null: this is no count. */
export function readCount(body: unknown): number | null {
  return isObject(body) ? readTokenCount(body.input_tokens) : null;
}
