// Turns of other vendors' models in a conversation that goes on with Anthropic's: their reasoning has signatures of ours around it, or
// none, and their call ids may hold characters that Anthropic refuses. Everything else is handed on as the same objects.
import { isObject } from '../../lib/json.ts';
import type { RequestMessage } from './schema.ts';
import { openSignature } from './signature.ts';
import { upstreamCallId } from './tool-input.ts';

export type RelayedHistory = { readonly messages: readonly unknown[]; readonly droppedThinking: boolean };

export function relayHistory(messages: readonly RequestMessage[]): RelayedHistory {
  if (messages.every(isUntouched)) return { messages, droppedThinking: false };
  let droppedThinking = false;
  const relayed = messages.flatMap((message): unknown[] => {
    if (!Array.isArray(message.content)) return [message];
    const blocks: readonly unknown[] = message.content;
    const kept = blocks.filter((block) => !isForeignThinking(block));
    if (kept.length < blocks.length) droppedThinking = true;
    // A turn that held nothing else would be refused as empty.
    return kept.length === 0 && blocks.length > 0 ? [] : [{ ...message, content: kept.map(withUpstreamId) }];
  });
  return { messages: relayed, droppedThinking };
}

function isUntouched({ content }: RequestMessage): boolean {
  if (!Array.isArray(content)) return true;
  return content.every((block: unknown) => !isForeignThinking(block) && withUpstreamId(block) === block);
}

function isForeignThinking(block: unknown): boolean {
  if (!isObject(block)) return false;
  if (block.type === 'thinking') return openSignature(block.signature)?.vendor !== 'anthropic';
  return block.type === 'redacted_thinking' && openSignature(block.data)?.vendor !== 'anthropic';
}

function withUpstreamId(block: unknown): unknown {
  if (!isObject(block)) return block;
  const name = block.type === 'tool_use' ? 'id' : block.type === 'tool_result' ? 'tool_use_id' : null;
  const id = name === null ? undefined : block[name];
  if (name === null || typeof id !== 'string') return block;
  const upstreamId = upstreamCallId(id);
  return upstreamId === id ? block : { ...block, [name]: upstreamId };
}
