// The specification streams reasoning as `reasoning_text`, OpenAI's models stream summaries. A client
// that sets an effort alone gets the summary as reasoning text; one that asks for a summary gets
// OpenAI's own events.
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { StreamMessage } from './stream-event.ts';

/** Returns true when the client wants to see reasoning and has not asked for a summary. */
export function wantsReasoningText({ reasoning }: JsonObject): boolean {
  if (!isObject(reasoning)) return false;
  const { effort = null, summary, generate_summary: oldSummary } = reasoning;
  return effort !== null && effort !== 'none' && (summary ?? oldSummary ?? null) === null;
}

/**
 * Renames the events of a summary; null: the event is left out. The first part is announced with its
 * item, as in translation. The finished item keeps the summary: so it returns to OpenAI.
 */
export function asReasoningText(message: StreamMessage): StreamMessage | null {
  const { type, payload } = message;
  const { summary_index: index, part, item, ...rest } = payload;
  if (type === 'response.output_item.added' && isObject(item)) {
    if (item.type !== 'reasoning' || item.content !== undefined) return message;
    const content = [{ type: 'reasoning_text', text: '' }];
    return { type, payload: { ...payload, item: { ...item, content } } };
  }
  if (!type.startsWith('response.reasoning_summary_')) return message;
  if (index === 0 && part !== undefined) return null;
  const renamed = type
    .replace('reasoning_summary_part', 'content_part')
    .replace('reasoning_summary_text', 'reasoning_text');
  const renamedPart = isObject(part) && { part: { ...part, type: 'reasoning_text' } };
  return {
    type: renamed,
    payload: { ...rest, type: renamed, content_index: index, ...renamedPart },
  };
}
