// Reads the conversation of a client's body, block by block. What a canonical message cannot hold
// is refused by name, never left out.
import { invalidRequest, quoted } from '../../canonical/errors.ts';
import type {
  AssistantPart,
  Message,
  TextPart,
  ToolResultPart,
  UserPart,
} from '../../canonical/request.ts';
import { append } from '../../lib/append.ts';
import { isObject, type JsonObject, textOf } from '../../lib/json.ts';
import { markAnswers, userTurn } from '../adapting/conversation.ts';
import { readCitations } from './citations.ts';
import { readCacheControl, readDocument, readImage, readSearchResult } from './media.ts';
import type { ContentBlock, RequestMessage, ResultBlock, ToolResultBlock } from './schema.ts';
import { searchAsText } from './search-blocks.ts';
import { openSignature } from './signature.ts';
import { withChangesAsTexts } from './tool-changes.ts';
import { readInput } from './tool-input.ts';

type TextBlock = Extract<ContentBlock, { type: 'text' }>;

/**
 * One message of the body can become two: here tool results are part of user turns, in the
 * canonical model they are messages of their own.
 */
export function readConversation(messages: readonly RequestMessage[]): Message[] {
  const lastUser = messages.findLastIndex((message) => message.role === 'user');
  return markAnswers(
    messages.flatMap((message, index) =>
      isCleared(message, index < lastUser)
        ? []
        : readMessage(message, `messages[${index}].content`),
    ),
  );
}

/**
 * Returns true for an instruction that Anthropic hides from the model once a later user turn has
 * arrived.
 */
export function isCleared(message: RequestMessage, hasLaterUserTurn: boolean): boolean {
  return message.role === 'system' && message.clear_at === 'next_user_message' && hasLaterUserTurn;
}

function readMessage(message: RequestMessage, path: string): Message[] {
  switch (message.role) {
    case 'user':
      return readUserMessage(asBlocks(message.content), path);
    case 'assistant':
      return [
        {
          role: 'assistant',
          content: asBlocks(message.content).flatMap((block, index) =>
            isLeftOut(block) ? [] : [readAssistantBlock(block, `${path}[${index}]`)],
          ),
        },
      ];
    case 'system':
      if (!message.content) return [];
      return [{ role: 'system', content: readTexts(withChangesAsTexts(message.content), path) }];
  }
}

/**
 * Returns true for the mark that another model went on. Without its beta, which asks another model,
 * Anthropic refuses it: github.com/anthropics/claude-code/issues/66760 (read 2026-11-30).
 */
export function isFallback(block: unknown): boolean {
  return isObject(block) && block.type === 'fallback';
}

/** Returns true for blocks that say nothing elsewhere: tools that Anthropic found are among the request's. */
export function isLeftOut(block: JsonObject): boolean {
  const { type, name } = block;
  const isSearch = type === 'server_tool_use' && textOf(name).startsWith('tool_search_tool_');
  return isFallback(block) || isSearch || type === 'tool_search_tool_result';
}

function asBlocks(content: string | readonly ContentBlock[]): readonly ContentBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function readUserMessage(blocks: readonly ContentBlock[], path: string): Message[] {
  const results: ToolResultPart[] = [];
  const parts: UserPart[] = [];
  for (const [index, block] of blocks.entries()) {
    if (block.type === 'tool_result') results.push(readResult(block, `${path}[${index}]`));
    else append(parts, readUserBlock(block, `${path}[${index}]`));
  }
  return userTurn(results, parts);
}

function readUserBlock(block: ContentBlock, path: string): UserPart[] {
  switch (block.type) {
    case 'text':
      return [readText(block)];
    case 'image':
      return [readImage(block, path)];
    case 'document':
      return readDocument(block, path);
    case 'search_result':
      return [readSearchResult(block, path)];
    default:
      throw unknownBlock(block, path);
  }
}

function readResult(block: ToolResultBlock, path: string): ToolResultPart {
  const content =
    typeof block.content === 'string'
      ? [{ type: 'text' as const, text: block.content }]
      : (block.content ?? []);
  return {
    type: 'tool-result',
    callId: block.tool_use_id,
    content: content.flatMap((part, index) => readResultBlock(part, `${path}.content[${index}]`)),
    isError: block.is_error ?? false,
    ...readCacheControl(block.cache_control),
  };
}

/** The tools that a search found are part of the request, so naming them is enough. */
function readResultBlock(block: ResultBlock, path: string): UserPart[] {
  if (block.type !== 'tool_reference') return readUserBlock(block, path);
  return [{ type: 'text', text: `This tool can be called now: ${block.tool_name}` }];
}

function readAssistantBlock(block: ContentBlock, path: string): AssistantPart {
  switch (block.type) {
    case 'text':
      return { ...readText(block), ...readCitations(block.citations) };
    case 'tool_use': {
      const mark = readCacheControl(block.cache_control);
      return {
        type: 'tool-call',
        id: block.id,
        name: block.name,
        arguments: readInput(block.input),
        kind: 'function',
        ...mark,
      };
    }
    case 'thinking':
      return {
        type: 'thinking',
        text: block.thinking,
        signature: openSignature(block.signature),
        redacted: false,
      };
    case 'redacted_thinking':
      return { type: 'thinking', text: '', signature: openSignature(block.data), redacted: true };
    default: {
      const text = searchAsText(block);
      if (text === null) throw unknownBlock(block, path);
      // A format that joins texts would make one word of an address and what follows.
      return { type: 'text', text: `${text}\n\n` };
    }
  }
}

/** Reads a system prompt: a string, or text blocks with cache marks. */
export function readTexts(content: string | readonly ContentBlock[], path: string): TextPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.map((block, index) => {
    if (block.type !== 'text') throw unknownBlock(block, `${path}[${index}]`);
    return readText(block);
  });
}

function readText(block: TextBlock): TextPart {
  return { type: 'text', text: block.text, ...readCacheControl(block.cache_control) };
}

function unknownBlock(block: { readonly type: string }, path: string): Error {
  return invalidRequest(
    `${path}.type`,
    `${path}.type ${quoted(block.type)} exists only in Anthropic's API and cannot be sent to this model; remove the block`,
  );
}
