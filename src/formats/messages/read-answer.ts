// Reads an upstream's whole answer: a stream that begins with all of it.
import { AnswerCollector, type Answer } from '../../canonical/answer.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { UnreadableAnswer } from '../format.ts';
import { requireObjects } from '../require-objects.ts';
import { readWhole } from './read-stream.ts';
import { isCutShort } from './stop.ts';
import { withObjectInput } from './tool-input.ts';

/** Throws UnreadableAnswer when the body is no message. */
export function readAnswer(body: unknown): Answer {
  const collector = new AnswerCollector();
  for (const event of readWhole(requireMessage(body))) collector.push(event);
  return collector.answer!;
}

type AnswerBody = JsonObject & { readonly content: readonly unknown[] };

/**
 * An answer that a filter or the limit ended before any output may lack its content. It is billed
 * anyway.
 */
export function requireMessage(body: unknown): AnswerBody {
  const content = isObject(body)
    ? (body.content ?? (isCutShort(body.stop_reason) ? [] : null))
    : null;
  if (!isObject(body) || !Array.isArray(content))
    throw new UnreadableAnswer('the answer is not a message: it has no content');
  requireObjects(content, '`content`');
  return { ...body, content: content.map(withObjectInput) };
}
