// Anthropic refuses a request with more than four marks for its prompt cache. Clients send more when
// they mark each new turn, and when several programs on the way each set their own.
import { isObject, type JsonObject } from '../../lib/json.ts';
import { editFields, editItems } from '../edit-json.ts';

const marksMax = 4;

/**
 * Removes marks until four are left, the earliest first, except the last one of tools and system
 * prompt, which all conversations share. Adds `cache_control` to `ignored` if it removes any.
 */
export function limitCacheMarks(body: Record<string, unknown>, ignored: string[]): void {
  const head = [...marksIn(body.tools), ...marksIn(body.system)];
  const marked = [...head, ...marksIn(body.messages)];
  const count = marked.length + (isMarked(body) ? 1 : 0);
  if (count <= marksMax) return;
  const removable = marked.filter((holder) => holder !== head.at(-1));
  const removed = new Set(removable.slice(0, count - marksMax));
  const unmark = (holder: JsonObject): JsonObject => {
    const content = editItems(holder.content, unmark);
    const edited = content === undefined ? holder : editFields(holder, { content });
    return removed.has(holder) ? editFields(edited, { cache_control: undefined }) : edited;
  };
  for (const field of ['tools', 'system', 'messages']) {
    if (body[field] !== undefined) body[field] = editItems(body[field], unmark);
  }
  ignored.push('cache_control');
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
