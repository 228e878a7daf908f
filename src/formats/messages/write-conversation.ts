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
import { turnOf, type Turn } from '../adapting/turns.ts';
import type { ClaudeTraits } from '../claude-traits.ts';
import { isOwnCitation, writeCitations } from './citations.ts';
import { writeCacheControl, writeDocument, writeImage } from './media.ts';
import { upstreamCallId, writeInput } from './tool-input.ts';

type WrittenConversation = {
  readonly system: readonly JsonObject[];
  readonly messages: readonly JsonObject[];
};

type Turns = Turn<'user' | 'assistant' | 'system'>[];

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
  const turns: Turns = [];
  // Anthropic's rule for instructions: after a user turn, and either last or before an assistant
  // turn.
  const leadsToAnswer = findAnswersAhead(messages);
  for (const [index, message] of messages.entries()) {
    if (message.role === 'assistant')
      addAnswer(
        turns,
        message.content.filter((part) => !isLost(part)),
      );
    else if (message.role !== 'system') addMessage(turns, message);
    else if (turns.length === 0) append(leading, message.content.flatMap(writeText));
    else
      addSystemMessage(
        turns,
        message.content,
        systemMessages && turns.at(-1)?.role !== 'assistant' && leadsToAnswer[index]!,
      );
  }
  const said = messages.flatMap(({ role, content }) => (role === 'assistant' ? content : []));
  if (said.some(isLost)) ignored.add('thinking');
  if (said.some(hasForeignCitation)) ignored.add('citations');
  return {
    system: leading,
    messages: turns
      .map(({ role, results, rest }) => ({ role, content: [...results, ...rest] }))
      .filter(({ content }) => content.length > 0),
  };
}

function hasForeignCitation(part: AssistantPart): boolean {
  return part.type === 'text' && ownCitations(part).length < (part.citations ?? []).length;
}

function ownCitations(part: TextPart): readonly JsonObject[] {
  return (writeCitations(part).citations ?? []).filter(isOwnCitation);
}

function addMessage(turns: Turns, message: Extract<Message, { role: 'user' | 'tool' }>): void {
  const turn = turnOf(turns, 'user');
  if (message.role === 'user') append(turn.rest, message.content.flatMap(writeUserPart));
  else append(turn.results, message.content.map(writeResult));
}

function addAnswer(turns: Turns, parts: readonly AssistantPart[]): void {
  const content = parts.flatMap(writeAssistantPart);
  // An empty turn would separate its neighbours.
  if (content.length > 0) append(turnOf(turns, 'assistant').rest, content);
}

/** Otherwise the instruction goes into the user's turn, marked as an instruction. */
function addSystemMessage(turns: Turns, content: readonly TextPart[], asSystem: boolean): void {
  if (asSystem) append(turnOf(turns, 'system').rest, content.flatMap(writeText));
  else append(turnOf(turns, 'user').rest, content.map(markInstruction).flatMap(writeText));
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
