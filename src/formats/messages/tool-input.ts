// A call's arguments: JSON text in the canonical model, a JSON object in Messages.
import { isObject } from '../../lib/json.ts';
import type { JsonObject } from '../format.ts';

/** Holds arguments that are no JSON object. */
const rawField = 'invalid_json_arguments';

/**
 * Arguments that are no JSON object (a call cut off by the output limit, a model's slip) become an object with their text under one
 * telling name. An empty object would run the tool with wrong arguments; this one fails the tool's own check, shows the model what it
 * wrote when it comes back in the history, and `readInput` restores the text.
 */
export function writeInput(text: string): JsonObject {
  if (text.trim() === '') return {};
  try {
    const input: unknown = JSON.parse(text);
    if (isObject(input)) return input;
  } catch {
    // Not JSON: kept as text below.
  }
  return { [rawField]: text };
}

export function readInput(input: unknown): string {
  if (!isObject(input)) return JSON.stringify(input ?? {});
  const raw = input[rawField];
  return typeof raw === 'string' && Object.keys(input).length === 1 ? raw : JSON.stringify(input);
}

/** Anthropic refuses ids with other characters, which some hosts make (`functions.search:0`); both ends of a call are mapped alike. */
export function upstreamCallId(id: string): string {
  if (/^[\w-]+$/.test(id)) return id;
  return id.replaceAll(/[^a-zA-Z0-9_-]/g, (character) => `_x${character.codePointAt(0)!.toString(16)}_`) || '_';
}
