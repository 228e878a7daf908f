// A call's arguments: JSON text in the canonical model, a JSON object in formats such as Messages and Gemini.
import { isObject, isTooDeep } from '../lib/json.ts';
import type { JsonObject } from './format.ts';

/** Holds arguments that are no JSON object. */
const rawField = 'invalid_json_arguments';

/**
 * Arguments that are no JSON object (a call cut off by the output limit, a model's slip), or an absurdly nested one, become an object with their text under one
 * telling name. An empty object would run the tool with wrong arguments; this one fails the tool's own check, shows the model what it
 * wrote when it comes back in the history, and `readInput` restores the text.
 */
export function writeInput(text: string): JsonObject {
  if (text.trim() === '') return {};
  if (isTooDeep(text)) return { [rawField]: text };
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
