// Validates a client's body. The body itself stays unchanged, except for the shape of its tools,
// because the straight path sends it on.
import { invalidRequest, refuseProblem } from '../../canonical/errors.ts';
import { readAskedTier } from '../../canonical/service-tier.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { compileSchema } from '../../lib/schema.ts';
import { editAt, editFields, editItems } from '../edit-json.ts';
import type { ClientRequest, RequestLimits } from '../format.ts';
import { mapChanged, toChatChoice, toChatMessages, toChatTool, withKind } from '../tool-shapes.ts';
import { RequestSchema, type ChatRequest } from './schema.ts';

const findProblem = compileSchema(RequestSchema);

/** Throws ApiError `invalid_request` with the field's path. */
export function parseRequest(body: unknown, limits: RequestLimits): ClientRequest<ChatRequest> {
  const typed = isObject(body) ? inOwnShape(body) : body;
  refuseProblem(findProblem(typed));
  const request = typed as ChatRequest & JsonObject;
  checkMaxTokens(request, limits);
  return {
    body: request,
    model: request.model,
    stream: request.stream ?? false,
    maxOutputTokens: smaller(request.max_tokens, request.max_completion_tokens),
    choices: request.n ?? 1,
    thinkingBudgetTokens: 0,
    ...readAskedTier(request.service_tier),
  };
}

/**
 * Tools, choices, calls and results in Chat's shape, whichever format's the client sent, and with the
 * `type` that some clients leave out of them.
 */
function inOwnShape(body: JsonObject): JsonObject {
  const { tools, tool_choice: choice, parallel_tool_calls: parallel } = body;
  const messages = editItems(toChatMessages(body.messages), (message) =>
    editFields(editAt(message, ['function_call'], withArguments), {
      tool_calls: editItems(mapChanged(message.tool_calls, withKind), (call) =>
        editAt(call, ['function'], withArguments),
      ),
      ...(message.role === 'tool' && { content: message.content ?? '' }),
      ...(message.role === 'function' && { content: message.content ?? null }),
    }),
  );
  const isSerial = isObject(choice) && choice.disable_parallel_tool_use === true;
  return editFields(body, {
    messages,
    tools: mapChanged(tools, toChatTool),
    tool_choice: toChatChoice(choice),
    parallel_tool_calls: isSerial ? (parallel ?? false) : parallel,
  });
}

/** JSON leaves out what a client's program has not set, as where a tool takes or returns nothing. */
function withArguments(named: JsonObject): JsonObject {
  return editFields(named, { arguments: named.arguments ?? '{}' });
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

function smaller(
  first: number | null | undefined,
  second: number | null | undefined,
): number | null {
  const smallest = Math.min(first ?? Infinity, second ?? Infinity);
  return smallest === Infinity ? null : smallest;
}
