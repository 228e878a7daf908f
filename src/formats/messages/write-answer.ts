// A whole answer in Messages.
import type { Answer } from '../../canonical/answer.ts';
import type { AssistantPart } from '../../canonical/request.ts';
import { countUsage } from '../../canonical/usage.ts';
import { utf8Length } from '../../lib/tokens.ts';
import type { AnswerContext, JsonObject } from '../format.ts';
import { sealSignature } from './signature.ts';
import { writeStop } from './stop.ts';
import { writeInput } from './tool-input.ts';
import { writeUsage } from './usage.ts';

/** Writes the message object; an answer without usage gets our own count, as it is charged. */
export function writeAnswer({ content, stop, usage }: Answer, context: AnswerContext): JsonObject {
  const hasRefusal = content.some((part) => part.type === 'refusal');
  return {
    ...messageHead(context),
    content: content.flatMap(writePart),
    ...writeStop(stop, hasRefusal),
    usage: writeUsage(usage ?? countUsage({ ...context, outputBytes: countBytes(content), early: null })),
  };
}

/** The fields that a stream's first event shares with a whole answer. */
export function messageHead(context: AnswerContext): JsonObject {
  return { id: `msg_${context.requestId}`, type: 'message', role: 'assistant', model: context.model };
}

/** Hidden reasoning without a signature would be an empty block that nobody can use. */
function writePart(part: AssistantPart): JsonObject[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return [{ type: 'text', text: part.text }];
    case 'thinking': {
      const sealed = part.signature ? sealSignature(part.signature) : '';
      if (!part.redacted) return [{ type: 'thinking', thinking: part.text, signature: sealed }];
      return sealed === '' ? [] : [{ type: 'redacted_thinking', data: sealed }];
    }
    case 'tool-call':
      return [{ type: 'tool_use', id: part.id, name: part.name, input: writeInput(part.arguments) }];
  }
}

function countBytes(content: readonly AssistantPart[]): number {
  let bytes = 0;
  for (const part of content) bytes += utf8Length(part.type === 'tool-call' ? part.arguments : part.text);
  return bytes;
}
