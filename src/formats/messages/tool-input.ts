// A call as Anthropic wants it: its arguments as an object, its id in few characters.

export { readInput, writeInput } from '../call-arguments.ts';

/**
 * Anthropic refuses ids with other characters, which some hosts make (`functions.search:0`). A call
 * and its result are mapped alike.
 */
export function upstreamCallId(id: string): string {
  if (/^[\w-]+$/.test(id)) return id;
  return (
    id.replaceAll(
      /[^a-zA-Z0-9_-]/g,
      (character) => `_x${character.codePointAt(0)!.toString(16)}_`,
    ) || '_'
  );
}
