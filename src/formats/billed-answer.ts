// Reads what a whole answer has cost, even when the rest of it cannot be read.
import type { Usage } from '../canonical/usage.ts';
import { isObject, type JsonObject } from '../lib/json.ts';
import { utf8Length } from '../lib/tokens-from-bytes.ts';

/**
 * `usage`: null when the answer reports none. `writtenBytes`: bytes of the texts that the model
 * wrote, from which our own count is made.
 */
export type BilledAnswer = { readonly usage: Usage | null; readonly writtenBytes: number };

/**
 * Returns null when the body is no answer and nobody billed it. `contentField`: the list that every
 * answer of the format has.
 */
export function readBilledAnswer(
  body: unknown,
  contentField: string,
  readUsage: (body: JsonObject) => Usage | null,
): BilledAnswer | null {
  if (!isObject(body)) return null;
  const usage = readUsage(body);
  const content = body[contentField];
  const isAnswer = !body.error && Array.isArray(content) && content.length > 0;
  return usage || isAnswer ? { usage, writtenBytes: isAnswer ? textBytes(content) : 0 } : null;
}

/**
 * Returns the UTF-8 bytes of all texts in a value. Not recursive: an unreadable answer may be
 * nested deeper than the stack.
 */
function textBytes(value: unknown): number {
  let bytes = 0;
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === 'string') bytes += utf8Length(next);
    else if (typeof next === 'object' && next !== null)
      for (const member of Object.values(next)) waiting.push(member);
  }
  return bytes;
}
