// Removes signed reasoning that the vendor behind a host has refused, as when OpenRouter changes
// between two clouds in mid-conversation, so that the request can run without it.
import type { JsonObject } from '../../lib/json.ts';
import { editItems } from '../edit-json.ts';
import type { Lightened } from '../format.ts';
import { refusesReasoning } from '../refused-reasoning.ts';

/** `refusal`: the body of the host's 400. Returns null when nothing can be left out. */
export function withoutRefused(body: JsonObject, refusal: unknown): Lightened | null {
  if (!refusesReasoning(refusal)) return null;
  const messages = editItems(body.messages, withoutSigned);
  if (messages === body.messages) return null;
  return { body: { ...body, messages }, ignored: ['reasoning_details'] };
}

function withoutSigned(message: JsonObject): JsonObject {
  if (!('reasoning_details' in message || 'thinking_blocks' in message)) return message;
  const { reasoning_details: _details, thinking_blocks: _blocks, ...rest } = message;
  return rest;
}
