// Turns for formats in which user and model alternate, and a user's turn begins with its results.
import { append } from '../../lib/append.ts';
import type { JsonObject } from '../../lib/json.ts';

export type Turn<Role> = {
  readonly role: Role;
  readonly results: JsonObject[];
  readonly rest: JsonObject[];
};

/**
 * Adds to the last turn, or to a new one if that has another role. Nothing to add makes no turn: an empty
 * one would separate its neighbours.
 */
export function addToTurn<Role>(
  turns: Turn<Role>[],
  { role, kind = 'rest' }: { readonly role: Role; readonly kind?: 'results' | 'rest' },
  blocks: readonly JsonObject[],
): void {
  if (blocks.length === 0) return;
  if (turns.at(-1)?.role !== role) turns.push({ role, results: [], rest: [] });
  append(turns.at(-1)![kind], blocks);
}
