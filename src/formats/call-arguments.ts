// A call's arguments are JSON text in the canonical model, and a JSON object in Messages and
// Gemini.
import { invalidRequest } from '../canonical/errors.ts';
import type { Message } from '../canonical/request.ts';
import { parseArguments } from '../lib/exact-json.ts';
import {
  isObject,
  isTooDeep,
  jsonDepthMax,
  JsonScan,
  parsedOr,
  requestValuesMax,
  type JsonObject,
} from '../lib/json.ts';

/** The field for arguments that are not a JSON object. */
const rawField = 'invalid_json_arguments';

/**
 * Returns arguments as the object that they mean, where hosts write none as `null` or `[]` (as PHP
 * does), or an object as JSON inside a string. Any other text stays the same, and one with more values
 * than `scan` allows.
 */
export function plainArguments(text: string, scan = newScan()): string {
  const plain = text.trim();
  if (none.has(plain)) return '{}';
  if (!plain.startsWith('"{') || !plain.endsWith('}"')) return text;
  const inner = parsedOr(plain, null);
  return typeof inner === 'string' && isObjectText(inner, scan) ? inner : text;
}

const none: ReadonlySet<string> = new Set(['', 'null', '[]', '""']);

/**
 * Returns arguments of an earlier call for hosts that parse them, whose chat templates fail on all
 * but an object: what is none is wrapped as `writeInput` does. `scan`: of all calls of a request.
 * Arguments with more values than it allows stay the same, unread.
 */
export function objectArguments(text: string, scan: JsonScan): string {
  const plain = plainArguments(text, scan);
  if (scan.findExcess(plain) === 'values') return plain;
  return isObjectText(plain) ? plain : JSON.stringify({ [rawField]: plain });
}

export function newScan(): JsonScan {
  return new JsonScan({ depthMax: jsonDepthMax, valuesMax: requestValuesMax });
}

function isObjectText(text: string, scan = newScan()): boolean {
  if (!text.trimStart().startsWith('{') || scan.findExcess(text) !== null) return false;
  return isObject(parsedOr(text, null));
}

/**
 * Arguments that are not a JSON object (a call cut off by the output limit, a model's slip) or that
 * are nested too deep become an object with their text in one field. An empty object would run the
 * tool with wrong arguments. This object fails the tool's own check and shows the model what it
 * wrote when it comes back in the history. `readInput` restores the text.
 */
export function writeInput(text: string): JsonObject {
  if (isTooDeep(text)) return { [rawField]: text };
  try {
    const input = parseArguments(plainArguments(text));
    if (isObject(input)) return input;
  } catch {
    // Not JSON: sent as text below.
  }
  return { [rawField]: text };
}

/**
 * The bound of a request's values does not see those inside a text. Throws ApiError
 * `invalid_request` when the arguments of all calls have more.
 */
export function limitArguments(messages: readonly Message[]): void {
  const scan = new JsonScan({ valuesMax: requestValuesMax });
  for (const { role, content } of messages)
    for (const part of role === 'assistant' ? content : [])
      if (part.type === 'tool-call' && scan.findExcess(plainArguments(part.arguments)) !== null)
        throw invalidRequest(
          'messages',
          `messages: the arguments of the calls have more than ${requestValuesMax} values together; leave earlier calls out`,
        );
}

/** Some hosts write an object as JSON inside a string. */
export function readInput(input: unknown): string {
  if (!isObject(input)) return plainArguments(JSON.stringify(input ?? {}));
  const raw = input[rawField];
  return typeof raw === 'string' && Object.keys(input).length === 1 ? raw : JSON.stringify(input);
}
