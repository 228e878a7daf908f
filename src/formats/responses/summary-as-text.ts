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

/** Renames the events of a summary. The finished item keeps it: so it returns to OpenAI. */
export function asReasoningText(message: StreamMessage): StreamMessage {
  const { type, payload } = message;
  if (!type.startsWith('response.reasoning_summary_')) return message;
  const renamed = type
    .replace('reasoning_summary_part', 'content_part')
    .replace('reasoning_summary_text', 'reasoning_text');
  const { summary_index: index, part, ...rest } = payload;
  const renamedPart = isObject(part) && { part: { ...part, type: 'reasoning_text' } };
  return {
    type: renamed,
    payload: { ...rest, type: renamed, content_index: index, ...renamedPart },
  };
}
