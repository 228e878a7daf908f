// Parses the data of one event of an upstream's stream, in every format.
import { parseWithArguments } from '../lib/exact-json.ts';
import { isTooDeep } from '../lib/json.ts';

/**
 * More than a request may be nested, because events echo its tools, and far less than V8 can write:
 * it parses any depth, but its stack overflows when it serialises the value again.
 */
const eventDepthMax = 1_000;

/** Returns undefined for data that is not JSON or is nested too deep. */
export function parseEventData(data: string): unknown {
  if (isEventTooDeep(data)) return undefined;
  try {
    return parseWithArguments(data);
  } catch {
    return undefined;
  }
}

/** Returns false for a type with a line break: it would start a new line when written. */
export function isTypeName(type: unknown): type is string {
  return typeof type === 'string' && type !== '' && !type.includes('\n') && !type.includes('\r');
}

export function isEventTooDeep(data: string): boolean {
  // Each level takes two brackets, so nearly all events are too short to be too deep.
  return data.length > 2 * eventDepthMax && isTooDeep(data, eventDepthMax);
}
