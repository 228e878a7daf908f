// One event of a stream: an upstream's, parsed, from which both the reader and the straight path start, and one of ours, written.
import { isObject, isTooDeep } from '../../lib/json.ts';
import { formatSse, type SseEvent } from '../../lib/sse.ts';
import type { JsonObject } from '../format.ts';

/** More than a request may be nested, since events echo its tools, and far less than V8 can write. */
const eventDepthMax = 200;

export type StreamMessage = { readonly type: string; readonly payload: JsonObject };

/** null: nothing to act on, as `[DONE]`. `'unreadable'`: not JSON, or nested absurdly deep. */
export function parseStreamEvent({ event, data }: SseEvent): StreamMessage | null | 'unreadable' {
  if (data === '[DONE]') return null;
  // Items are kept and written again, in a failure too, which must not fail itself.
  if (isTooDeep(data, eventDepthMax)) return 'unreadable';
  let payload: unknown;
  try {
    payload = JSON.parse(data);
  } catch {
    return 'unreadable';
  }
  if (!isObject(payload)) return null;
  const type = isTypeName(payload.type) ? payload.type : event;
  // Proxies before a host put bare errors into a stream.
  if (type === '') return isObject(payload.error) ? { type: 'error', payload } : null;
  return { type, payload };
}

/** A type with a line break would start a line of its own when it is written. */
function isTypeName(type: unknown): type is string {
  return typeof type === 'string' && type !== '' && !/[\r\n]/.test(type);
}

/** The response object of a lifecycle event; {} when it is missing. */
export function responseOf({ response }: JsonObject): JsonObject {
  return isObject(response) ? response : {};
}

/** One event of a stream, with its number in it. */
export function writeEvent(type: string, sequence: number, fields: JsonObject): string {
  return formatSse(type, JSON.stringify({ type, sequence_number: sequence, ...fields }));
}
