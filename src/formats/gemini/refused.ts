// Removes thought signatures that Google has refused, so that the request can run without them.
import { isObject, type JsonObject, listOf } from '../../lib/json.ts';
import { editItems } from '../edit-json.ts';
import type { Lightened } from '../format.ts';
import { refusesReasoning } from '../refused-reasoning.ts';
import { foreignCallSignature } from './write-model-parts.ts';

/** `refusal`: the body of the host's 400. Returns null when nothing can be left out. */
export function withoutRefused(body: JsonObject, refusal: unknown): Lightened | null {
  if (!refusesReasoning(refusal)) return null;
  const contents = editItems(body.contents, withoutSignatures);
  return contents === body.contents ? null : { body: { ...body, contents }, ignored: ['thinking'] };
}

/** The first of parallel calls must have one. */
function withoutSignatures(content: JsonObject): JsonObject {
  const parts = listOf(content.parts);
  const firstCall = parts.find((part) => isObject(part) && isObject(part.functionCall));
  const edited = editItems(parts, (part) => {
    const wanted = part === firstCall ? foreignCallSignature : undefined;
    if (part.thoughtSignature === wanted) return part;
    const { thoughtSignature: _refused, ...rest } = part;
    return wanted ? { ...rest, thoughtSignature: wanted } : rest;
  });
  return edited === parts ? content : { ...content, parts: edited };
}
