// Turns for formats in which user and model alternate, and a user's turn begins with its results.
import type { JsonObject } from '../../lib/json.ts';

export type Turn<Role> = {
  readonly role: Role;
  readonly results: JsonObject[];
  readonly rest: JsonObject[];
};

/** Returns the last turn, or a new one if that has another role. */
export function turnOf<Role>(turns: Turn<Role>[], role: Role): Turn<Role> {
  const last = turns.at(-1);
  if (last?.role === role) return last;
  const turn = { role, results: [], rest: [] };
  turns.push(turn);
  return turn;
}
