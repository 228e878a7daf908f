// Reads a whole answer. Items of tools that run at the provider are left out.
import { AnswerCollector, type Answer } from '../../canonical/answer.ts';
import type { AssistantPart } from '../../canonical/request.ts';
import { isObject, type JsonObject, textOf } from '../../lib/json.ts';
import { UnreadableAnswer } from '../format.ts';
import { readErrorMessage } from '../error-message.ts';
import { requireObjects } from '../require-objects.ts';
import { createItemReader } from './read-stream-item.ts';
import { readReasoning } from './reasoning.ts';
import { readStop } from './stop.ts';
import { readUsage } from './usage.ts';

/** Throws UnreadableAnswer when the body is no response, or one that failed or has not ended. */
export function readAnswer(body: unknown): Answer {
  const response = requireResponse(body);
  const content = response.output.flatMap(readItem);
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

/**
 * Returns the parts of one output item, which a stream would have ended with; none for kinds
 * without a canonical form.
 */
export function readItem(item: unknown): readonly AssistantPart[] {
  if (!isObject(item)) return [];
  if (item.type === 'reasoning') return [readReasoning(item)].filter((part) => part !== null);
  const collector = new AnswerCollector();
  for (const event of createItemReader(textOf(item.type)).finish(item)) collector.push(event);
  return collector.content;
}
