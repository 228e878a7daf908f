// Completes calls and results on the straight path. OpenAI refuses a call without a result and a
// result without its call. It takes results late and in pieces, and waits for those of `async` calls
// (developers.openai.com/api/docs/guides/async-tool-calling, read 2026-11-30).
import { invalidRequest } from '../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import {
  asUser,
  missingResult,
  type ResultShape,
  uncalledAsUser,
} from '../adapting/paired-results.ts';

/** OpenAI takes the output of a tool that was not called, and waits for that of an `async` call. */
export function completeCalls(
  items: readonly unknown[],
  { isOpenAi }: { readonly isOpenAi: boolean },
): readonly unknown[] {
  const { unanswered, lost } = matchOutputs(items);
  return items.flatMap((item, index): unknown[] => {
    if (!isObject(item)) return [item];
    if (isUncalled(item)) return [isOpenAi ? item : uncalledAsUser(item, shapeOf(item.type))];
    const callId = String(item.call_id);
    if (lost.has(index)) return [asUser(item, callId, { shape: shapeOf(item.type) })];
    if (!unanswered.has(index) || (isOpenAi && item.async === true)) return [item];
    return [item, missingResult(callId, shapeOf(`${String(item.type)}_output`))];
  });
}

/**
 * Throws ApiError `invalid_request` when a client relies on `previous_response_id`, which is ignored,
 * and sends a result without its call: the model would not know what to do with it.
 */
export function refuseLostCalls({ previous_response_id: previous, input }: JsonObject): void {
  if ((previous ?? null) === null || !Array.isArray(input)) return;
  const [first] = matchOutputs(input).lost;
  if (first === undefined) return;
  const path = `input[${first}].call_id`;
  throw invalidRequest(
    path,
    `${path} answers a call that is not in \`input\`, and \`previous_response_id\` is ignored, because nothing is kept ` +
      'between requests. Send the whole conversation.',
  );
}

/** Returns the indexes of calls without an output behind them, and of outputs without a call. */
function matchOutputs(items: readonly unknown[]) {
  const open = new Map<unknown, number[]>();
  const lost = new Set<number>();
  for (const [index, item] of items.entries()) {
    if (!isObject(item) || isUncalled(item)) continue;
    const calls = open.get(item.call_id);
    if (isCall(item) && calls) calls.push(index);
    else if (isCall(item)) open.set(item.call_id, [index]);
    else if (!outputs.has(item.type)) continue;
    else if (calls) calls.pop();
    else lost.add(index);
  }
  return { unanswered: new Set([...open.values()].flat()), lost };
}

const outputs: ReadonlySet<unknown> = new Set(['function_call_output', 'custom_tool_call_output']);

function isUncalled({ type, call_id: callId = null }: JsonObject): boolean {
  return type === 'function_call_output' && callId === null;
}

function isCall({ type }: JsonObject): boolean {
  return outputs.has(`${String(type)}_output`);
}

function shapeOf(type: unknown): ResultShape {
  const write: ResultShape['write'] = (callId, output) => ({ type, call_id: callId, output });
  return { field: 'output', textType: 'input_text', write };
}
