// What the straight path changes in an answer, streamed or not: the model is the catalogue's, a
// function call's id is its `call_id`, and tools have the client's names.
import type { AssistantPart } from '../../canonical/request.ts';
import { isObject, type JsonObject, textOf } from '../../lib/json.ts';
import { editFields } from '../edit-json.ts';
import type { AnswerContext } from '../format.ts';
import type { ToolNames } from '../tool-names.ts';
import { shownUsage } from '../shown-usage.ts';
import { inspectContent, readItem } from './read-answer.ts';
import { renameItem, renameTools } from './relay-tool-names.ts';
import { missingHead, writeWarnings } from './response-body.ts';

/** `names`: the names under which the request's tools were sent. */
export function relayItem(item: unknown, names: ToolNames | null): unknown {
  if (!isObject(item)) return item;
  const named = names ? renameItem(item, names.toClient) : item;
  const callId = textOf(named.call_id) || textOf(named.id);
  if (named.type !== 'function_call' || callId === '') return named;
  const { arguments: given } = named;
  const text = isObject(given) ? JSON.stringify(given) : given;
  return editFields(named, { id: callId, call_id: callId, arguments: text });
}

/**
 * Returns a response with the catalogue's model, `output`, our warnings, no cost, and the client's
 * own tool names.
 */
export function relayResponse(
  response: JsonObject,
  output: readonly unknown[],
  { context, names }: { readonly context: AnswerContext; readonly names: ToolNames | null },
): JsonObject {
  const { body } = context.request;
  const named = names ? renameTools(response, names.toClient) : response;
  const usage = response.usage === undefined ? null : { usage: shownUsage(response.usage) };
  const ours = {
    ...missingHead(response, context),
    model: context.model,
    output,
    ...writeWarnings(context, response.warnings),
  };
  return { ...named, ...clientNames(response, body), ...usage, ...ours };
}

function clientNames(response: JsonObject, request: JsonObject): JsonObject {
  const echoed = ['user', 'safety_identifier', 'prompt_cache_key'].filter(
    (name) => name in response,
  );
  return Object.fromEntries(echoed.map((name) => [name, request[name] ?? null]));
}

/** Returns what the gateway needs to know about a finished output. */
export function inspectOutput(output: readonly unknown[]): {
  calls: boolean;
  refusal: boolean;
  content: readonly AssistantPart[];
} {
  // On this path, clients judge a call without a name themselves.
  const content = output.flatMap((item) =>
    readItem(isObject(item) ? { ...item, name: textOf(item.name) || '?' } : item),
  );
  return { ...inspectContent(content), content };
}

export function isReasoning(item: unknown): boolean {
  return isObject(item) && item.type === 'reasoning';
}
