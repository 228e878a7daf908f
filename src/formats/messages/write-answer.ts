// Writes a whole answer in Messages.
import type { Answer } from '../../canonical/answer.ts';
import type { AnswerPart } from '../../canonical/own-tools.ts';
import { countOutputBytes } from '../../canonical/output-bytes.ts';
import { countUsage } from '../../canonical/usage.ts';
import type { JsonObject } from '../../lib/json.ts';
import { missingFields } from '../edit-json.ts';
import type { AnswerContext } from '../format.ts';
import { writeCitations } from './citations.ts';
import { safeguardResults } from './safeguards.ts';
import { searchBlocks } from './search-blocks.ts';
import { sealSignature } from './signature.ts';
import { writeStop } from './stop.ts';
import { writeInput } from './tool-input.ts';
import { writeMessageUsage, writeSearchUsage } from './usage.ts';

/** An answer without usage gets our own count, which is also what is charged. */
export function writeAnswer(
  { content, stop, usage }: Answer<AnswerPart>,
  context: AnswerContext,
): JsonObject {
  const hasRefusal = content.some((part) => part.type === 'refusal');
  return {
    ...messageHead(context),
    content: content.flatMap((part, index) => writePart(part, context, index)),
    ...writeStop(stop, hasRefusal, context.request.body),
    ...safeguardResults(context.request.body),
    usage: {
      ...writeMessageUsage(
        countUsage(usage, { ...context, outputBytes: countOutputBytes(content) }),
        context.request,
      ),
      ...writeSearchUsage(content.filter((part) => part.type === 'search')),
    },
  };
}

/** Returns the fields that a stream's first event shares with a whole answer. */
export function messageHead(context: AnswerContext): JsonObject {
  const id = `msg_${context.requestId}`;
  return {
    id,
    type: 'message',
    role: 'assistant',
    model: context.model,
    container: null,
    diagnostics: null,
  };
}

/** Returns the required fields that a host's message lacks. */
export function missingHead(message: JsonObject, { requestId }: AnswerContext): JsonObject {
  const { content, stop_sequence: sequence } = message;
  return {
    ...missingFields(message, { id: `msg_${requestId}`, type: 'message', role: 'assistant' }),
    ...(!Array.isArray(content) && { content: [] }),
    ...(sequence === undefined && { stop_sequence: null }),
  };
}

/**
 * Writes a call as a block. `caller`: the model itself, because at Anthropic programs can call
 * tools too.
 */
export function callBlock(id: string, name: string, input: JsonObject): JsonObject {
  return { type: 'tool_use', id, name, input, caller: { type: 'direct' } };
}

/** Stands for an image: Anthropic's answers have none, and its SDKs refuse unknown blocks. */
export const imageNote =
  '[The model made an image here, which the Messages format cannot carry. Use Chat Completions or Responses to get it.]';

/** Leaves out hidden reasoning without a signature: its block would be empty and useless. */
function writePart(part: AnswerPart, context: AnswerContext, index: number): JsonObject[] {
  switch (part.type) {
    case 'search': {
      const { use, resultOf } = searchBlocks(part.query, context, index);
      return [use, resultOf(part.found)];
    }
    case 'text':
      return [{ type: 'text', text: part.text, ...writeCitations(part) }];
    case 'refusal':
      return [{ type: 'text', text: part.text }];
    case 'thinking': {
      const sealed = sealSignature(part.signature);
      if (!part.redacted) return [{ type: 'thinking', thinking: part.text, signature: sealed }];
      return part.signature ? [{ type: 'redacted_thinking', data: sealed }] : [];
    }
    case 'image':
    case 'drawing':
      return [{ type: 'text', text: imageNote }];
    case 'tool-call':
      return [callBlock(part.id, part.name, writeInput(part.arguments))];
  }
}
