// A call as Anthropic wants it: its arguments as an object, its id in few characters.

import { hash } from 'node:crypto';
import { isObject } from '../../lib/json.ts';
import { readInput, writeInput } from '../call-arguments.ts';

export { readInput, writeInput };

/** Returns true for a call that waits for the client; one by a program may have its result already. */
export function isOpenCall(block: unknown): boolean {
  if (!isObject(block) || block.type !== 'tool_use') return false;
  return !isObject(block.caller) || block.caller.type === 'direct';
}

/** Returns a call of an answer with an object as its input: some hosts write null, or JSON as text. */
export function withObjectInput(block: unknown): unknown {
  if (!isObject(block) || block.type !== 'tool_use' || isObject(block.input)) return block;
  return { ...block, input: writeInput(readInput(block.input)) };
}

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
