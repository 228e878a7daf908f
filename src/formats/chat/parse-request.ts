// Validates a client's body. The body itself stays unchanged, except for added types, because the
// straight path sends it on.
import { invalidRequest } from '../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { compileSchema } from '../../lib/schema.ts';
import type { ClientRequest, RequestLimits } from '../format.ts';
import { RequestSchema, type ChatRequest } from './schema.ts';

const findProblem = compileSchema(RequestSchema);

/** Throws ApiError `invalid_request` with the field's path. */
export function parseRequest(body: unknown, limits: RequestLimits): ClientRequest<ChatRequest> {
  const typed = isObject(body) ? withTypes(body) : body;
  const problem = findProblem(typed);
  if (problem)
    throw invalidRequest(problem.path || null, `${problem.path || 'the body'} ${problem.message}`);
  const request = typed as ChatRequest & JsonObject;
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

/**
 * Adds the `type` that some clients leave out of tools, calls and a choice; the field beside it
 * implies it: `{"function": {"name": "f"}}`.
 */
function withTypes(body: JsonObject): JsonObject {
  const tools = mapChanged(body.tools, withType);
  const toolChoice = withType(body.tool_choice);
  const messages = mapChanged(body.messages, (message) => {
    if (!isObject(message)) return message;
    const calls = mapChanged(message.tool_calls, withType);
    return calls === message.tool_calls ? message : { ...message, tool_calls: calls };
  });
  if (tools === body.tools && toolChoice === body.tool_choice && messages === body.messages)
    return body;
  return {
    ...body,
    messages,
    ...(tools !== undefined && { tools }),
    ...(toolChoice !== undefined && { tool_choice: toolChoice }),
  };
}

function withType(value: unknown): unknown {
  if (!isObject(value) || (value.type ?? null) !== null) return value;
  const kind = (['function', 'custom'] as const).find((name) => isObject(value[name]));
  return kind ? { ...value, type: kind } : value;
}

/** Returns the same list when nothing changes. Returns anything but a list unchanged. */
function mapChanged(list: unknown, change: (entry: unknown) => unknown): unknown {
  if (!Array.isArray(list)) return list;
  const changed = list.map(change);
  return changed.some((entry, index) => entry !== list[index]) ? changed : list;
}

function checkMaxTokens(
  { max_tokens: maxTokens }: ChatRequest,
  { chatMaxTokens }: RequestLimits,
): void {
  if (chatMaxTokens === null || (maxTokens ?? 0) <= chatMaxTokens) return;
  throw invalidRequest(
    'max_tokens',
    `max_tokens must be at most ${chatMaxTokens}; got ${maxTokens}. For longer answers use max_completion_tokens, which only the ` +
      `model limits, or ask the operator to raise limits.chat_max_tokens`,
  );
}

/** Only an assistant message with other content may leave out `content`. */
function checkAssistantMessages({ messages }: ChatRequest): void {
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant' || (message.content ?? null) !== null) continue;
    if (message.tool_calls?.length || message.function_call || message.audio) continue;
    if (
      message.refusal ||
      message.reasoning_content ||
      message.reasoning ||
      message.reasoning_details?.length
    )
      continue;
    const path = `messages[${index}].content`;
    throw invalidRequest(
      path,
      `${path} is required unless the message has tool_calls: a string or an array of parts`,
    );
  }
}

function smaller(
  first: number | null | undefined,
  second: number | null | undefined,
): number | null {
  const smallest = Math.min(first ?? Infinity, second ?? Infinity);
  return smallest === Infinity ? null : smallest;
}
