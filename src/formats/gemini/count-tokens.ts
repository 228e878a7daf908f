// Counts a request's input without running it: Gemini's `models.countTokens`, which takes the whole
// request in one field. https://ai.google.dev/api/tokens, 2026-11.
import { readTokenCount } from '../../canonical/usage.ts';
import { isObject, objectOf } from '../../lib/json.ts';
import type { InputCount } from '../format.ts';

export const inputCount: InputCount = {
  write: (body, model) => ({ generateContentRequest: { model: `models/${model}`, ...body } }),
  read: (answer) => readTokenCount(objectOf(answer).totalTokens),
};

/** Returns the request that a client wants counted: the body itself, or one of its fields. */
export function readCountBody(body: unknown): unknown {
  if (!isObject(body)) return body;
  const { generateContentRequest, generate_content_request: asked = generateContentRequest } = body;
  return isObject(asked) ? { ...asked, model: body.model, stream: false } : body;
}
