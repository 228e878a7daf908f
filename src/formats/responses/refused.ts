// Removes what a host has refused, so that the request can run without it: reasoning that was
// encrypted for another account, region or key, and summaries, which OpenAI refuses to
// organisations that are not verified.
import { readErrorMessage } from '../error-message.ts';
import type { Lightened } from '../format.ts';
import { isObject, type JsonObject, objectOf } from '../../lib/json.ts';
import { refusesReasoning } from '../refused-reasoning.ts';

/** `refusal`: the body of the host's 400. Returns null when nothing can be left out. */
export function withoutRefused(body: JsonObject, refusal: unknown): Lightened | null {
  if (refusesReasoning(refusal)) return withoutReasoning(body);
  const { param } = objectOf(objectOf(refusal).error);
  const message = readErrorMessage(refusal) ?? '';
  // Other summaries are the client's own: were their refusal remembered, an account could take the
  // summaries of all others away.
  const isSummary = param === 'reasoning.summary' || message.startsWith(unverified);
  const { reasoning } = body;
  if (!isSummary || !isObject(reasoning) || reasoning.summary !== 'auto') return null;
  const { summary: _summary, ...rest } = reasoning;
  return { body: { ...body, reasoning: rest }, ignored: ['reasoning.summary'], isLasting: true };
}

const unverified = 'Your organization must be verified to generate reasoning summaries';

/** The ids go too: OpenAI refuses a stored call or message without the reasoning before it. */
function withoutReasoning(body: JsonObject): Lightened | null {
  const { input } = body;
  if (!Array.isArray(input)) return null;
  const kept = input.filter((item) => !isObject(item) || item.type !== 'reasoning');
  if (kept.length === input.length || kept.length === 0) return null;
  const items = kept.map((item: unknown) => (isObject(item) ? withoutId(item) : item));
  return { body: { ...body, input: items }, ignored: ['encrypted_content'] };
}

export function withoutId({ id: _id, ...item }: JsonObject): JsonObject {
  return item;
}
