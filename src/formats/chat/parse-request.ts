// A client's body to a checked request. The body itself is kept as it came: the straight path sends it on.
import { invalidRequest } from '../../canonical/errors.ts';
import { compileSchema } from '../../lib/schema.ts';
import type { ClientRequest, RequestLimits } from '../format.ts';
import { RequestSchema, type ChatRequest } from './schema.ts';

const findProblem = compileSchema(RequestSchema);

/** Throws ApiError `invalid_request` with the field's path. */
export function parseRequest(body: unknown, limits: RequestLimits): ClientRequest {
  const problem = findProblem(body);
  if (problem) throw invalidRequest(problem.path || null, `${problem.path || 'the body'} ${problem.message}`);
  const request = body as ChatRequest;
  checkMaxTokens(request, limits);
  checkAssistantMessages(request);
  return {
    body: request,
    model: request.model,
    stream: request.stream ?? false,
    maxOutputTokens: smaller(request.max_tokens, request.max_completion_tokens),
    choices: request.n ?? 1,
    thinkingBudgetTokens: 0,
  };
}

function checkMaxTokens({ max_tokens: maxTokens }: ChatRequest, { chatMaxTokens }: RequestLimits): void {
  if (chatMaxTokens === null || (maxTokens ?? 0) <= chatMaxTokens) return;
  throw invalidRequest(
    'max_tokens',
    `max_tokens must be at most ${chatMaxTokens}; got ${maxTokens}. For longer answers use max_completion_tokens, which only the ` +
      `model bounds, or let the operator change limits.chat_max_tokens`,
  );
}

/** `content` may be left out only of an assistant message that has something else to say. */
function checkAssistantMessages({ messages }: ChatRequest): void {
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant' || (message.content ?? null) !== null) continue;
    if (message.tool_calls?.length || message.function_call || message.audio) continue;
    if (message.refusal || message.reasoning_content || message.reasoning || message.reasoning_details?.length) continue;
    const path = `messages[${index}].content`;
    throw invalidRequest(path, `${path} is required unless the message has tool_calls: a string or an array of parts`);
  }
}

function smaller(first: number | null | undefined, second: number | null | undefined): number | null {
  const smallest = Math.min(first ?? Infinity, second ?? Infinity);
  return smallest === Infinity ? null : smallest;
}
