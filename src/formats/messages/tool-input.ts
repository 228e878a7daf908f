// A call as Anthropic wants it: its arguments as an object, its id in few characters.

import { hash } from 'node:crypto';

export { readInput, writeInput } from '../call-arguments.ts';

/**
 * Anthropic refuses ids with other characters, which some hosts make (`functions.search:0`). A call
 * and its result are mapped alike.
 */
export function upstreamCallId(id: string): string {
  if (/^[\w-]+$/.test(id)) return id;
  if (id.length > spelledOutMax) return `call_${hash('sha256', id)}`;
  return (
    id.replaceAll(
      /[^a-zA-Z0-9_-]/g,
      (character) => `_x${character.codePointAt(0)!.toString(16)}_`,
    ) || '_'
  );
}

/** No host makes longer ids, and spelling out millions of characters takes seconds. */
const spelledOutMax = 100;
