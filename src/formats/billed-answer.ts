// What a whole answer has cost, also where nobody can make anything of the rest of it.
import type { Usage } from '../canonical/usage.ts';
import { isObject } from '../lib/json.ts';
import type { JsonObject } from './format.ts';

/** `usage`: null where the answer does not say. */
export type BilledAnswer = { readonly usage: Usage | null };

/** null: the body is no answer, and nobody has billed it. `contentField`: the list that every answer of the format has. */
export function readBilledAnswer(
  body: unknown,
  contentField: string,
  readUsage: (body: JsonObject) => Usage | null,
): BilledAnswer | null {
  if (!isObject(body)) return null;
  const usage = readUsage(body);
  const content = body[contentField];
  const isAnswer = !body.error && Array.isArray(content) && content.length > 0;
  return usage || isAnswer ? { usage } : null;
}
