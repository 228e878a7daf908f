// Reads an upstream's whole answer.
import type { Answer } from '../../canonical/answer.ts';
import type { AssistantPart, RefusalPart } from '../../canonical/request.ts';
import { isObject, type JsonObject, textOf } from '../../lib/json.ts';
import { UnreadableAnswer } from '../format.ts';
import { requireObjects } from '../require-objects.ts';
import { readCitations } from './citations.ts';
import { openSignature } from './signature.ts';
import { isCutShort, readStop } from './stop.ts';
import { readInput, withObjectInput } from './tool-input.ts';
import { readUsage } from './usage.ts';

/** Throws UnreadableAnswer when the body is no message. */
export function readAnswer(body: unknown): Answer {
  const message = requireMessage(body);
  return {
    content: [...message.content.flatMap(readBlock), ...readExplanation(message.stop_details)],
    stop: readStop(message.stop_reason, message.stop_sequence),
    usage: readUsage(message.usage),
  };
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

/**
 * Anthropic may explain a refusal beside the message. In other formats this becomes the text of the
 * refusal.
 */
export function readExplanation(details: unknown): RefusalPart[] {
  const text = isObject(details) && details.type === 'refusal' ? textOf(details.explanation) : '';
  return text === '' ? [] : [{ type: 'refusal', text }];
}

/** Other formats cannot request tools that Anthropic runs, and have no place for their blocks. */
function readBlock(block: unknown): AssistantPart[] {
  if (!isObject(block)) return [];
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: textOf(block.text), ...readCitations(block.citations) }];
    case 'thinking':
      return [
        {
          type: 'thinking',
          text: textOf(block.thinking),
          signature: openSignature(block.signature),
          redacted: false,
        },
      ];
    case 'redacted_thinking':
      return [{ type: 'thinking', text: '', signature: openSignature(block.data), redacted: true }];
    case 'tool_use':
      return [
        {
          type: 'tool-call',
          id: textOf(block.id),
          name: readCallName(block),
          arguments: readInput(block.input),
          kind: 'function',
        },
      ];
    default:
      return [];
  }
}

/** A call without a name cannot be run. */
export function readCallName({ name }: JsonObject): string {
  if (typeof name === 'string' && name !== '') return name;
  throw new UnreadableAnswer('a tool call of the answer has no name');
}
