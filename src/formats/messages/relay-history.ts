// Repairs earlier turns on the straight path. What another vendor's model wrote and Anthropic refuses
// is removed: reasoning that it did not sign, blank texts, citations of other searches, and ids with
// other characters. Everything else stays the same object.
import { emptyTurn, nothingToAnswer } from '../adapting/answerable.ts';
import { base64Source } from '../../canonical/media-type.ts';
import { isObject, type JsonObject, listOf } from '../../lib/json.ts';
import { editFields, editItems } from '../edit-json.ts';
import { isOwnCitation } from './citations.ts';
import { pairMessages } from './pair-messages.ts';
import type { RequestMessage } from './schema.ts';
import { isOwnSearchBlock, searchAsText } from './search-blocks.ts';
import { openSignature } from './signature.ts';
import { upstreamCallId } from './tool-input.ts';

type RelayedHistory = {
  readonly messages: readonly JsonObject[];
  readonly droppedThinking: boolean;
  readonly droppedCitations: boolean;
};

/** Throws ApiError `invalid_request` when nothing is left. */
export function relayHistory(messages: readonly RequestMessage[]): RelayedHistory {
  const blocks = messages.flatMap(({ content }): readonly unknown[] => listOf(content));
  const relayed = messages.flatMap(relayMessage);
  if (relayed.every((message) => message === blankTurn)) throw nothingToAnswer('messages');
  return {
    messages: pairMessages(relayed),
    droppedThinking: blocks.some(isForeignThinking),
    droppedCitations: blocks.some(hasForeignCitation),
  };
}

const blankTurn: JsonObject = { role: 'user', content: emptyTurn.content };

/** Anthropic refuses a turn without content, and ends the answer before a dropped one. */
function relayMessage(
  message: RequestMessage,
  index: number,
  messages: readonly RequestMessage[],
): JsonObject[] {
  const { role, content } = message;
  if (role === 'system') return [message];
  if (!Array.isArray(content)) {
    if (content?.trim() !== '') return [message];
  } else {
    const kept = content.map(relayBlock).filter((block) => block !== null);
    const isSame =
      kept.length === content.length && kept.every((block, at) => block === content[at]);
    if (kept.length > 0) return [isSame ? message : { ...message, content: kept }];
  }
  return role === 'assistant' || messages[index - 1]?.role === 'user' ? [] : [blankTurn];
}

/** Returns null when the block is left out. */
function relayBlock(block: unknown): unknown {
  if (!isObject(block)) return block;
  const search = isOwnSearchBlock(block) ? searchAsText(block) : null;
  if (search !== null) return { type: 'text', text: search, cache_control: block.cache_control };
  if (isForeignThinking(block) || isBlankText(block)) return null;
  if (hasForeignCitation(block)) return withOwnCitations(block);
  const content = block.type === 'tool_result' ? editItems(block.content, mendSource) : undefined;
  return withUpstreamId(content === undefined ? mendSource(block) : editFields(block, { content }));
}

/** Corrects the type of an image or document by its bytes. */
function mendSource(block: JsonObject): JsonObject {
  const { source } = block;
  const place = block.type === 'image' || block.type === 'document' ? block.type : null;
  if (!place || !isObject(source) || source.type !== 'base64') return block;
  const { media_type: type, data } = source;
  if (typeof type !== 'string' || typeof data !== 'string') return block;
  const mended = base64Source(type, data, place);
  const fields = { media_type: mended.mediaType, data: mended.data };
  return editFields(block, { source: editFields(source, fields) });
}

function isForeignThinking(block: unknown): boolean {
  if (!isObject(block)) return false;
  if (block.type === 'thinking') return openSignature(block.signature)?.vendor !== 'anthropic';
  return block.type === 'redacted_thinking' && openSignature(block.data)?.vendor !== 'anthropic';
}

function isBlankText({ type, text }: Record<string, unknown>): boolean {
  return type === 'text' && typeof text === 'string' && text.trim() === '';
}

function hasForeignCitation(block: unknown): boolean {
  return (
    isObject(block) &&
    block.type === 'text' &&
    Array.isArray(block.citations) &&
    !block.citations.every(isOwnCitation)
  );
}

function withOwnCitations({ citations, ...block }: Record<string, unknown>): unknown {
  const own = (citations as unknown[]).filter(isOwnCitation);
  return own.length === 0 ? block : { ...block, citations: own };
}

function withUpstreamId(block: Record<string, unknown>): unknown {
  const name =
    block.type === 'tool_use' ? 'id' : block.type === 'tool_result' ? 'tool_use_id' : null;
  const id = name === null ? undefined : block[name];
  if (name === null || typeof id !== 'string') return block;
  const upstreamId = upstreamCallId(id);
  return upstreamId === id ? block : { ...block, [name]: upstreamId };
}
