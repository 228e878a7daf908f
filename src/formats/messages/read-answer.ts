// An upstream's whole answer.
import type { Answer } from '../../canonical/answer.ts';
import type { AssistantPart, RefusalPart } from '../../canonical/request.ts';
import { isObject } from '../../lib/json.ts';
import { UnreadableAnswer, type JsonObject } from '../format.ts';
import { requireObjects } from '../require-objects.ts';
import { readCitations } from './citations.ts';
import { openSignature } from './signature.ts';
import { readStop } from './stop.ts';
import { readInput } from './tool-input.ts';
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

export type AnswerBody = JsonObject & { readonly content: readonly unknown[] };

export function requireMessage(body: unknown): AnswerBody {
  if (!isObject(body) || !Array.isArray(body.content))
    throw new UnreadableAnswer('the answer is not a message: it has no content');
  requireObjects(body.content, '`content`');
  return body as AnswerBody;
}

/** Anthropic may say why it refuses, beside the message: the words of the refusal to everyone else. */
export function readExplanation(details: unknown): RefusalPart[] {
  const text = isObject(details) && details.type === 'refusal' ? asText(details.explanation) : '';
  return text === '' ? [] : [{ type: 'refusal', text }];
}

/** Blocks of tools that Anthropic runs have no place in other formats and cannot be asked for from them. */
function readBlock(block: unknown): AssistantPart[] {
  if (!isObject(block)) return [];
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: asText(block.text), ...readCitations(block.citations) }];
    case 'thinking':
      return [{ type: 'thinking', text: asText(block.thinking), signature: openSignature(block.signature), redacted: false }];
    case 'redacted_thinking':
      return [{ type: 'thinking', text: '', signature: openSignature(block.data), redacted: true }];
    case 'tool_use':
      return [
        {
          type: 'tool-call',
          id: asText(block.id),
          name: readCallName(block),
          arguments: readInput(block.input),
          kind: 'function',
        },
      ];
    default:
      return [];
  }
}

/** Nobody can run a call without a name. */
export function readCallName({ name }: JsonObject): string {
  if (typeof name === 'string' && name !== '') return name;
  throw new UnreadableAnswer('a tool call of the answer has no name');
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
