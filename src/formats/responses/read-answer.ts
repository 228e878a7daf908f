// Reads a whole answer. Items of tools that run at the provider are left out.
import type { Answer } from '../../canonical/answer.ts';
import type { AssistantPart, ToolCallPart } from '../../canonical/request.ts';
import { isObject, type JsonObject, listOf, textOf } from '../../lib/json.ts';
import { UnreadableAnswer } from '../format.ts';
import { readErrorMessage } from '../error-message.ts';
import { requireObjects } from '../require-objects.ts';
import { readAnnotations } from './citations.ts';
import { readReasoning } from './reasoning.ts';
import { readStop } from './stop.ts';
import { readUsage } from './usage.ts';

/** Throws UnreadableAnswer when the body is no response, or one that failed or has not ended. */
export function readAnswer(body: unknown): Answer {
  const response = requireResponse(body);
  const content = response.output.flatMap(readItem);
  // A call without a name cannot be run.
  if (content.some((part) => part.type === 'tool-call' && part.name === ''))
    throw new UnreadableAnswer(namelessCall);
  return {
    content,
    stop: readStop(response, inspectContent(content)),
    usage: readUsage(response),
  };
}

/** Returns a response that has ended, with its output. */
export function requireResponse(
  body: unknown,
): JsonObject & { readonly output: readonly unknown[] } {
  if (!isObject(body)) throw new UnreadableAnswer('the answer is not a JSON object');
  if ((body.error ?? null) !== null || body.status === 'failed' || body.status === 'cancelled') {
    throw new UnreadableAnswer(`the response failed: ${readErrorMessage(body) ?? 'no message'}`);
  }
  // A response that a filter or the limit ended before any output may lack its output. It is billed
  // anyway.
  const output = body.output ?? (body.status === 'incomplete' ? [] : null);
  if (!Array.isArray(output)) throw new UnreadableAnswer('the answer has no `output`');
  requireObjects(output, '`output`');
  for (const { content } of output as JsonObject[]) requireObjects(content, 'a message');
  if (body.status === 'queued' || body.status === 'in_progress')
    throw new UnreadableAnswer(`the response is still ${body.status}`);
  return { ...body, output };
}

export function inspectContent(content: readonly AssistantPart[]): {
  calls: boolean;
  refusal: boolean;
} {
  return {
    calls: content.some((part) => part.type === 'tool-call'),
    refusal: content.some((part) => part.type === 'refusal'),
  };
}

/** Returns the parts of one output item; none for kinds without a canonical form. */
export function readItem(item: unknown): AssistantPart[] {
  if (!isObject(item)) return [];
  switch (item.type) {
    case 'message':
      return listOf(item.content).flatMap(readPart);
    case 'reasoning': {
      const thinking = readReasoning(item);
      return thinking ? [thinking] : [];
    }
    case 'function_call':
      return [readCall(item, readArguments(item.arguments), 'function')];
    case 'custom_tool_call':
      return [readCall(item, textOf(item.input), 'custom')];
    default:
      return [];
  }
}

function readPart(part: unknown): AssistantPart[] {
  if (!isObject(part)) return [];
  if (part.type === 'output_text')
    return [{ type: 'text', text: textOf(part.text), ...readAnnotations(part.annotations) }];
  if (part.type === 'refusal') return [{ type: 'refusal', text: textOf(part.refusal) }];
  return [];
}

function readCall(item: JsonObject, text: string, kind: ToolCallPart['kind']): ToolCallPart {
  return { type: 'tool-call', ...readCallNames(item), arguments: text, kind };
}

/** Some hosts leave out `call_id` and use the item's id. */
export function readCallNames(item: JsonObject): { id: string; name: string } {
  return { id: textOf(item.call_id) || textOf(item.id), name: textOf(item.name) };
}

export const namelessCall = 'a tool call of the answer has no name';

/** Returns JSON text; some hosts send the object itself. */
export function readArguments(value: unknown): string {
  return isObject(value) ? JSON.stringify(value) : textOf(value);
}
