// Compaction: a request whose last item is a `compaction_trigger` is answered with one item that
// stands for the conversation so far. OpenAI makes its own. Elsewhere the model itself is asked for
// a summary, which travels in the item's `encrypted_content`, packed as reasoning is
// (signature.ts), and is read back as a message on any model.
import type { AnswerPart } from '../../canonical/own-tools.ts';
import { refuseField } from '../../canonical/errors.ts';
import { isObject, type JsonObject, objectOf, parsedOr } from '../../lib/json.ts';

const prefix = 'tg1.summary.';

/** What the model is asked for at the end of the conversation. */
export const summaryRequest =
  'The conversation is about to be cut: another model goes on with the task and sees only what you write now. ' +
  'Write a summary for it. Say what the user wants, with every wish and limit that still holds; what was done and decided, and why; ' +
  'which files, names, commands, values and errors matter; and what is left to do, with the next step. ' +
  'Answer with the summary alone, as plain text. Call no tool, and do not go on with the task.';

const summaryHeading = 'The conversation so far was replaced by this summary. Go on from it:\n\n';

/** Returns true for the body of a request that ends with the trigger, and is no warm-up. */
export function asksForCompaction({ input, generate }: JsonObject): boolean {
  return Array.isArray(input) && isTrigger(input.at(-1)) && generate !== false;
}

export function isTrigger(item: unknown): boolean {
  return isObject(item) && item.type === 'compaction_trigger';
}

/** Returns the summary in an answer; '' when the model wrote no text. */
export function summaryIn(content: readonly AnswerPart[]): string {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.join('').trim();
}

export function compactionItem(id: string, summary: string): JsonObject {
  return {
    id,
    type: 'compaction',
    encrypted_content: prefix + JSON.stringify({ text: summary }),
  };
}

/**
 * Returns what the model reads instead of the item; null for an item that is not ours. Throws
 * ApiError `invalid_request` for one of ours that is damaged.
 */
export function readCompaction(
  { encrypted_content: sealed }: JsonObject,
  path: string,
): string | null {
  if (typeof sealed !== 'string' || !sealed.startsWith(prefix)) return null;
  const { text } = objectOf(parsedOr(sealed.slice(prefix.length), null));
  if (typeof text === 'string') return summaryHeading + text;
  // Cut or changed on its way.
  refuseField(`${path}.encrypted_content`, 'is damaged: send the item as it was answered.');
}
