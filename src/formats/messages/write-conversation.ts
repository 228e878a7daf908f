// Writes the canonical conversation as Anthropic wants it: user and assistant turns alternate, a
// user turn begins with its tool results, and system text is in the conversation only where model
// and position allow it.
import type {
  AssistantPart,
  CanonicalRequest,
  Message,
  TextPart,
  ThinkingPart,
  ToolResultPart,
  UserPart,
} from '../../canonical/request.ts';
import { markInstruction } from '../../canonical/marked-instruction.ts';
import { append } from '../../lib/append.ts';
import type { JsonObject } from '../../lib/json.ts';
import { addToTurn, type Turn } from '../adapting/turns.ts';
import type { ClaudeTraits } from '../claude-traits.ts';
import { isOwnCitation, writeCitations } from './citations.ts';
import { writeCacheControl, writeDocument, writeImage } from './media.ts';
import { withPlacedThinking } from './signature.ts';
import { upstreamCallId, writeInput } from './tool-input.ts';

type WrittenConversation = {
  readonly system: readonly JsonObject[];
  readonly messages: readonly JsonObject[];
};

/**
 * Adds what is left out to `ignored`: `thinking` of other vendors or without a signature, and
 * `citations` of other searches.
 */
export function writeConversation(
  { system, messages }: Pick<CanonicalRequest, 'system' | 'messages'>,
  { systemMessages, unsignedThinking }: Pick<ClaudeTraits, 'systemMessages' | 'unsignedThinking'>,
  ignored: Set<string>,
): WrittenConversation {
  const isLost = (part: AssistantPart) => isForeignThinking(part, unsignedThinking);
  const leading = system.flatMap(writeText);
  const turns: Turn<'user' | 'assistant' | 'system'>[] = [];
  // Anthropic's rule for instructions: after a user turn, and either last or before an assistant
  // turn.
  const leadsToAnswer = findAnswersAhead(messages);
  for (const [index, message] of messages.entries()) {
    switch (message.role) {
      case 'assistant': {
        const blocks = message.content.filter((part) => !isLost(part)).flatMap(writeAssistantPart);
        const placed = withPlacedThinking(blocks);
        if (placed.length < blocks.length) ignored.add('thinking');
        addToTurn(turns, { role: 'assistant' }, placed);
        break;
      }
      case 'user':
        addToTurn(turns, { role: 'user' }, message.content.flatMap(writeUserPart));
        break;
      case 'tool':
        addToTurn(turns, { role: 'user', kind: 'results' }, message.content.map(writeResult));
        break;
      case 'system': {
        const { content } = message;
        const isPlaced = turns.at(-1)?.role !== 'assistant' && leadsToAnswer[index]!;
        if (turns.length === 0) append(leading, content.flatMap(writeText));
        else if (systemMessages && isPlaced)
          addToTurn(turns, { role: 'system' }, content.flatMap(writeText));
        // Otherwise it goes into the user's turn, marked as an instruction.
        else addToTurn(turns, { role: 'user' }, content.map(markInstruction).flatMap(writeText));
      }
    }
  }
  const said = messages.flatMap(({ role, content }) => (role === 'assistant' ? content : []));
  if (said.some(isLost)) ignored.add('thinking');
  if (said.some(hasForeignCitation)) ignored.add('citations');
  return {
    system: leading,
    messages: turns.map(({ role, results, rest }) => ({ role, content: [...results, ...rest] })),
  };
}

function hasForeignCitation(part: AssistantPart): boolean {
  return part.type === 'text' && ownCitations(part).length < (part.citations ?? []).length;
}

function ownCitations(part: TextPart): readonly JsonObject[] {
  return (writeCitations(part).citations ?? []).filter(isOwnCitation);
}

/**
 * For each message: true when the next message other than an instruction is the assistant's, or
 * there is none.
 */
function findAnswersAhead(messages: readonly Message[]): boolean[] {
  const ahead: boolean[] = [];
  let leadsToAnswer = true;
  for (const { role } of messages.toReversed()) {
    ahead.push(leadsToAnswer);
    if (role !== 'system') leadsToAnswer = role === 'assistant';
  }
  return ahead.toReversed();
}

/**
 * Anthropic refuses blank text, which some models write before a call. Nothing is lost without it.
 */
function writeText({ text, cacheControl }: TextPart): JsonObject[] {
  return text.trim() === '' ? [] : [{ type: 'text', text, ...writeCacheControl(cacheControl) }];
}

function writeCitedText(part: TextPart): JsonObject[] {
  const citations = ownCitations(part);
  return citations.length === 0
    ? writeText(part)
    : writeText(part).map((block) => ({ ...block, citations }));
}

function writeUserPart(part: UserPart): JsonObject[] {
  switch (part.type) {
    case 'text':
      return writeText(part);
    case 'image':
      return [writeImage(part)];
    case 'document':
      return [writeDocument(part)];
  }
}

function writeResult({ callId, content, isError, cacheControl }: ToolResultPart): JsonObject {
  const blocks = content.flatMap(writeUserPart);
  return {
    type: 'tool_result',
    tool_use_id: upstreamCallId(callId),
    ...(blocks.length > 0 ? { content: blocks } : {}),
    ...(isError ? { is_error: true } : {}),
    ...writeCacheControl(cacheControl),
  };
}

function writeAssistantPart(part: AssistantPart): JsonObject[] {
  switch (part.type) {
    case 'text':
      return writeCitedText(part);
    case 'refusal':
      return writeText({ ...part, type: 'text' });
    case 'thinking':
      return [writeThinking(part)];
    case 'image':
      return [];
    case 'tool-call': {
      const { id, name, arguments: text, cacheControl } = part;
      return [
        {
          type: 'tool_use',
          id: upstreamCallId(id),
          name,
          input: writeInput(text),
          ...writeCacheControl(cacheControl),
        },
      ];
    }
  }
}

function isForeignThinking(part: AssistantPart, unsignedThinking: boolean): boolean {
  if (part.type !== 'thinking' || part.signature?.vendor === 'anthropic') return false;
  return part.redacted || !unsignedThinking || part.text.trim() === '';
}

function writeThinking({ text, signature, redacted }: ThinkingPart): JsonObject {
  if (redacted) return { type: 'redacted_thinking', data: signature!.value };
  const own = signature?.vendor === 'anthropic' ? { signature: signature.value } : null;
  return { type: 'thinking', thinking: text, ...own };
}
