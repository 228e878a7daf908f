// Repairs earlier turns on the straight path. What another vendor's model wrote and Anthropic refuses
// is removed: reasoning that it did not sign, blank texts, citations of other searches, and ids with
// other characters. Everything else stays the same object.
import { emptyTurn, nothingToAnswer } from '../adapting/answerable.ts';
import { markInstruction } from '../../canonical/marked-instruction.ts';
import { base64Source } from '../../canonical/media-type.ts';
import { isObject, type JsonObject, listOf, objectsOf, textOf } from '../../lib/json.ts';
import type { ClaudeTraits } from '../claude-traits.ts';
import { editFields, editItems, editText } from '../edit-json.ts';
import { isOwnCitation } from './citations.ts';
import { pairMessages } from './pair-messages.ts';
import { isCleared, isFallback } from './read-conversation.ts';
import type { RequestMessage } from './schema.ts';
import { isOwnSearchBlock, searchAsText } from './search-blocks.ts';
import { isThinking, openSignature, withPlacedThinking } from './signature.ts';
import { withChangesAsTexts } from './tool-changes.ts';
import { upstreamCallId } from './tool-input.ts';

type HostTraits = Pick<ClaudeTraits, 'unsignedThinking' | 'systemMessages'>;

/** Adds the fields that are left out to `ignored`. Throws ApiError `invalid_request` when nothing is left. */
export function relayHistory(
  given: readonly RequestMessage[],
  traits: HostTraits,
  ignored: Set<string>,
): readonly JsonObject[] {
  const lastUser = given.findLastIndex(({ role }) => role === 'user');
  const messages = traits.systemMessages
    ? given
    : given.flatMap((message, at) => asUserTurn(message, at < lastUser));
  const blocks = messages.flatMap(({ content }): readonly unknown[] => listOf(content));
  const relayed = messages.flatMap((message, index) =>
    relayMessage(message, messages[index - 1]?.role, traits),
  );
  const ended = relayed.flatMap((message, index) =>
    endAnswer(message, relayed[index + 1], ignored),
  );
  if (ended.every((message) => message === blankTurn)) throw nothingToAnswer('messages');
  const hasLost = {
    thinking: blocks.some((block) => isDropped(block, traits)),
    citations: blocks.some(hasForeignCitation),
    'messages.output_config':
      messages !== given && given.some((sent) => sent.role === 'system' && sent.output_config),
    'messages.content.fallback': blocks.some(isFallback),
    cache_control: blocks.some(isMarkedThinking),
  };
  for (const [name, isLost] of Object.entries(hasLost)) if (isLost) ignored.add(name);
  return pairMessages(ended);
}

/**
 * Returns an answer without what was cut off at its end, both of which Anthropic refuses:
 * reasoning, and a search without its result (github.com/open-gsd/gsd-pi/issues/1330, read
 * 2026-11-30). It goes on with a search behind which nothing follows but results of the client.
 */
function endAnswer(
  message: JsonObject,
  next: JsonObject | undefined,
  ignored: Set<string>,
): readonly JsonObject[] {
  if (message.role !== 'assistant' || next?.role === 'assistant') return [message];
  const content = objectsOf(message.content);
  const isContinued = !next || objectsOf(next.content).some(({ type }) => type === 'tool_result');
  const results = new Set(content.map(({ tool_use_id: id }) => id));
  const isOpen = ({ type, id }: JsonObject) => type === 'server_tool_use' && !results.has(id);
  const whole = isContinued ? content : content.filter((block) => !isOpen(block));
  const kept = withPlacedThinking(whole);
  if (whole.length < content.length) ignored.add('messages.content.server_tool_use');
  if (kept.length < whole.length) ignored.add('thinking');
  if (kept.length === content.length) return [message];
  return kept.length > 0 ? [{ ...message, content: kept }] : [];
}

/**
 * Claude Code sends instructions in mid-conversation whatever the model:
 * github.com/decolua/9router/issues/1603, deepseek-ai/awesome-deepseek-integration#639 (read
 * 2026-11-30).
 */
function asUserTurn(message: RequestMessage, hasLaterUserTurn: boolean): RequestMessage[] {
  if (message.role !== 'system') return [message];
  const { content } = message;
  if (!content || isCleared(message, hasLaterUserTurn)) return [];
  const blocks = withChangesAsTexts(content);
  const texts = blocks.filter((block) => block.type === 'text');
  // Others are for the host to refuse.
  const isText = texts.length === blocks.length;
  return [isText ? { role: 'user', content: texts.map(markInstruction) } : message];
}

const blankTurn: JsonObject = { role: 'user', content: emptyTurn.content };

/** Anthropic refuses a turn without content, and ends the answer before a dropped one. */
function relayMessage(
  message: RequestMessage,
  before: RequestMessage['role'] | undefined,
  traits: HostTraits,
): JsonObject[] {
  const { role, content } = message;
  if (role === 'system') return [message];
  if (!Array.isArray(content)) {
    if (content?.trim() !== '') return [message];
  } else {
    const kept = content
      .map((block: unknown) => relayBlock(block, traits))
      .filter((block) => block !== null);
    const isSame =
      kept.length === content.length && kept.every((block, at) => block === content[at]);
    if (kept.length > 0) return [isSame ? message : { ...message, content: kept }];
  }
  return role === 'assistant' || before === 'user' ? [] : [blankTurn];
}

/** Returns null when the block is left out. */
function relayBlock(block: unknown, traits: HostTraits): unknown {
  if (!isObject(block)) return block;
  const search = isOwnSearchBlock(block) ? searchAsText(block) : null;
  if (search !== null) return { type: 'text', text: search, cache_control: block.cache_control };
  if (isThinking(block)) return relayThinking(editFields(block, unmarked), traits);
  if (isBlankText(block) || isFallback(block)) return null;
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

/**
 * Anthropic refuses a mark for the cache on thinking, which clients with rules of their own set:
 * github.com/LeenHawk/gproxy/issues/67 (read 2026-11-30).
 */
const unmarked = { cache_control: undefined };

function isMarkedThinking(block: unknown): boolean {
  return isObject(block) && isThinking(block) && isObject(block.cache_control);
}

function isDropped(block: unknown, traits: HostTraits): boolean {
  return isObject(block) && isThinking(block) && relayThinking(block, traits) === null;
}

/** Returns null when the block is left out. */
function relayThinking(block: JsonObject, { unsignedThinking }: HostTraits): JsonObject | null {
  const isRedacted = block.type === 'redacted_thinking';
  const sealed = isRedacted ? block.data : block.signature;
  if (openSignature(sealed)?.vendor === 'anthropic') return block;
  if (isRedacted || !unsignedThinking || textOf(block.thinking).trim() === '') return null;
  // A signature of ours means nothing there.
  const { signature, ...unsigned } = block;
  return signature ? unsigned : block;
}

/** Leaves out blank texts of the system prompt. Returns undefined when nothing is left. */
export function relaySystem(system: readonly unknown[]): readonly unknown[] | undefined {
  const kept = system.filter((block) => !isObject(block) || !isBlankText(block));
  if (kept.length === system.length) return system;
  return kept.length > 0 ? kept : undefined;
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
  return name === null
    ? block
    : editFields(block, { [name]: editText(block[name], upstreamCallId) });
}
