import type { Lose } from '../../../src/formats/fit-schema.ts';
import type { JsonObject } from '../../../src/lib/json.ts';

/** Fits a schema. Returns it with the keywords that it loses, each once. */
export function withLosses(fit: (lose: Lose) => JsonObject) {
  const lost = new Set<string>();
  return { schema: fit((word) => lost.add(word)), lost: [...lost] };
}
