// Marks for Anthropic's prompt cache: how far the prompt is kept for the next request. Anthropic
// refuses more than four. Clients send more when they mark each new turn, and when several programs
// on the way each set their own. Clients of other formats have none to send.
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { CacheMarks } from '../../terms/prompt-cache.ts';
import { editFields, editItems } from '../edit-json.ts';

const marksMax = 4;

/**
 * Removes marks until four are left, the earliest first, except the last one of tools and system
 * prompt, which all conversations share. Adds `cache_control` to `ignored` if it removes any. Returns
 * who marked the prompt.
 */
export function limitCacheMarks(body: Record<string, unknown>, ignored: Set<string>): CacheMarks {
  const head = [...marksIn(body.tools), ...marksIn(body.system)];
  const marked = [...head, ...marksIn(body.messages)];
  const count = marked.length + (isMarked(body) ? 1 : 0);
  if (count <= marksMax) return count === 0 ? 'none' : 'client';
  const removable = marked.filter((holder) => holder !== head.at(-1));
  const removed = new Set(removable.slice(0, count - marksMax));
  editHolders(body, (holder) => (removed.has(holder) ? { cache_control: undefined } : null));
  ignored.add('cache_control');
  return 'client';
}

/**
 * Marks what the next turn begins with: tools and system prompt, which other conversations share,
 * and the conversation up to its last block. The mark before the last answer finds what the last
 * request wrote, because Anthropic looks back over twenty blocks only.
 */
export function addCacheMarks(body: Record<string, unknown>): void {
  const head = isFilled(body.system) ? 'system' : 'tools';
  if (isFilled(body[head])) body[head] = markLast(body[head]);
  const messages = body.messages as readonly JsonObject[];
  const last = messages.length - 1;
  const answer = messages.findLastIndex(({ role }, index) => role === 'assistant' && index < last);
  const marked = new Set([last, answer - 1]);
  body.messages = messages.map((message, index) =>
    marked.has(index) ? { ...message, content: markLast(message.content) } : message,
  );
}

/**
 * Returns the body with the marks that the clouds take. They refuse the mark of the whole request, which
 * means its last block, and `scope`, which is added to `ignored`.
 */
export function asCloudMarks(
  { cache_control: mark, ...body }: JsonObject,
  ignored: Set<string>,
): JsonObject {
  const edited: Record<string, unknown> = { ...body };
  editHolders(edited, ({ cache_control: own }) => {
    if (!isObject(own) || own.scope === undefined) return null;
    ignored.add('cache_control.scope');
    const { scope: _, ...kept } = own;
    return { cache_control: kept };
  });
  if (!isObject(mark) || !isFilled(edited.messages)) return edited;
  const last = edited.messages.at(-1)!;
  const blocks =
    typeof last.content === 'string' ? [{ type: 'text', text: last.content }] : last.content;
  if (!isFilled(blocks)) return edited;
  const { scope, ...whole } = mark;
  if (scope !== undefined) ignored.add('cache_control.scope');
  return {
    ...edited,
    messages: [...edited.messages.slice(0, -1), { ...last, content: markLast(blocks, whole) }],
  };
}

/** Sets fields of whatever may have a mark, at any depth. `edit`: returns null to change nothing. */
function editHolders(
  body: Record<string, unknown>,
  edit: (holder: JsonObject) => JsonObject | null,
): void {
  const editHolder = (holder: JsonObject): JsonObject => {
    const content = editItems(holder.content, editHolder);
    return editFields(holder, { ...(content !== undefined && { content }), ...edit(holder) });
  };
  for (const field of ['tools', 'system', 'messages'])
    if (body[field] !== undefined) body[field] = editItems(body[field], editHolder);
}

function isFilled(list: unknown): list is readonly JsonObject[] {
  return Array.isArray(list) && list.length > 0;
}

/** Marks the last block, which is never a thought: those may have none. One of its own stays. */
function markLast(
  blocks: unknown,
  mark: JsonObject = { type: 'ephemeral' },
): readonly JsonObject[] {
  const list = blocks as readonly JsonObject[];
  return list.map((block, index) =>
    index === list.length - 1 && !isMarked(block) ? { ...block, cache_control: mark } : block,
  );
}

/** Returns the tools or blocks with a mark, at any depth, in order. */
function marksIn(list: unknown): JsonObject[] {
  if (!Array.isArray(list)) return [];
  return list.filter(isObject).flatMap((holder) => {
    const inner = marksIn(holder.content);
    return isMarked(holder) ? [...inner, holder] : inner;
  });
}

function isMarked({ cache_control: mark }: JsonObject): boolean {
  return isObject(mark);
}
