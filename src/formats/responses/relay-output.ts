// What the straight path changes in an answer, streamed or not: the model is the catalogue's, a function call's id is its `call_id`.
import type { AssistantPart } from '../../canonical/request.ts';
import { isObject } from '../../lib/json.ts';
import type { AnswerContext, JsonObject } from '../format.ts';
import { inspectContent, readItem } from './read-answer.ts';

export function relayItem(item: unknown): unknown {
  if (!isObject(item) || item.type !== 'function_call' || typeof item.call_id !== 'string' || item.call_id === '') return item;
  return item.id === item.call_id ? item : { ...item, id: item.call_id };
}

/** A response object with the catalogue's model, `output`, and the client's own names where the provider was told others. */
export function relayResponse(response: JsonObject, output: readonly unknown[], context: AnswerContext): JsonObject {
  return { ...response, ...clientNames(response, context.request.body), model: context.model, output };
}

function clientNames(response: JsonObject, request: JsonObject): JsonObject {
  const echoed = ['user', 'safety_identifier', 'prompt_cache_key'].filter((name) => name in response);
  return Object.fromEntries(echoed.map((name) => [name, request[name] ?? null]));
}

/** What the gateway must know of a finished output. */
export function inspectOutput(output: readonly unknown[]): {
  calls: boolean;
  refusal: boolean;
  content: readonly AssistantPart[];
} {
  const content = output.flatMap(readItem);
  return { ...inspectContent(content), content };
}

export function isReasoning(item: unknown): boolean {
  return isObject(item) && item.type === 'reasoning';
}
