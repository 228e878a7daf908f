// Removes from earlier turns what another vendor's model wrote and Anthropic refuses: reasoning
// that it did not sign, blank texts, citations of other searches, and ids with other characters.
// Everything else stays the same object.
import { nothingToAnswer } from '../adapting/answerable.ts';
import { isObject } from '../../lib/json.ts';
import { isOwnCitation } from './citations.ts';
import type { RequestMessage } from './schema.ts';
import { openSignature } from './signature.ts';
import { upstreamCallId } from './tool-input.ts';

type RelayedHistory = {
  readonly messages: readonly unknown[];
  readonly droppedThinking: boolean;
  readonly droppedCitations: boolean;
};

/** Throws ApiError `invalid_request` when nothing is left. */
export function relayHistory(messages: readonly RequestMessage[]): RelayedHistory {
  if (messages.every(isUntouched))
    return { messages, droppedThinking: false, droppedCitations: false };
  const blocks = messages.flatMap(({ content }): readonly unknown[] =>
    Array.isArray(content) ? content : [],
  );
  const relayed = messages.flatMap(relayMessage);
  if (relayed.length === 0) throw nothingToAnswer('messages');
  return {
    messages: relayed,
    droppedThinking: blocks.some(isForeignThinking),
    droppedCitations: blocks.some(hasForeignCitation),
  };
}

function isUntouched({ role, content }: RequestMessage): boolean {
  if (!Array.isArray(content)) return true;
  return content.every((block: unknown) => relayBlock(block, role) === block);
}

function relayMessage(message: RequestMessage): unknown[] {
  if (!Array.isArray(message.content)) return [message];
  const blocks: readonly unknown[] = message.content;
  const kept = blocks
    .map((block) => relayBlock(block, message.role))
    .filter((block) => block !== null);
  // Drops a turn without remaining blocks, because Anthropic refuses empty ones.
  return kept.length === 0 && blocks.length > 0 ? [] : [{ ...message, content: kept }];
}

/** Returns null when the block is left out. */
function relayBlock(block: unknown, role: RequestMessage['role']): unknown {
  if (!isObject(block)) return block;
  if (isForeignThinking(block) || (role === 'assistant' && isBlankText(block))) return null;
  if (hasForeignCitation(block)) return withOwnCitations(block);
  return withUpstreamId(block);
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
