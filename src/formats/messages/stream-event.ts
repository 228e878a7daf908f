// Parses an upstream's stream event, for the reader and the straight path.
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { SseEvent } from '../../lib/sse.ts';
import { isTypeName, parseEventData } from '../event-data.ts';

/**
 * Returns `terminator` for OpenAI's last line, which some hosts send in every format, and null when
 * the data is not a JSON object.
 */
export function parseEvent(data: string): JsonObject | 'terminator' | null {
  if (data === '[DONE]') return 'terminator';
  const text = textEvent.exec(data);
  // `JSON.parse` copies the text; a part of the data would keep all of it in memory.
  if (text) return textDelta(Number(text[1]), JSON.parse(text[2]!) as string);
  const event = parseEventData(data);
  return isObject(event) ? event : null;
}

/**
 * Matches nearly every event of an answer, as Anthropic writes it: a text without escapes. Reading
 * its parts takes less than half the time of `JSON.parse`, which gives the same object.
 */
const textEvent =
  // oxlint-disable-next-line no-control-regex
  /^\{"type":"content_block_delta","index":(0|[1-9]\d{0,8}),"delta":\{"type":"text_delta","text":("[^"\\\u0000-\u001f]*")\} *\}$/;

function textDelta(index: number, text: string): JsonObject {
  return { type: 'content_block_delta', index, delta: { type: 'text_delta', text } };
}

/**
 * Returns the type of an event, from its data or else from its `event:` line. A type with a line
 * break is ignored.
 */
export function typeOf({ event: line }: SseEvent, { type }: JsonObject): string {
  return isTypeName(type) ? type : line;
}
