// Parses an upstream's stream event, for the reader and the straight path, and writes one of ours.
import { isObject, type JsonObject, objectOf } from '../../lib/json.ts';
import { formatSse, type SseEvent } from '../../lib/sse.ts';
import { isTypeName, parseEventData } from '../event-data.ts';

export type StreamMessage = { readonly type: string; readonly payload: JsonObject };

/**
 * Returns null when there is nothing to act on, as in `[DONE]`, and `'unreadable'` for data that is
 * not JSON or is nested too deep.
 */
export function parseStreamEvent({ event, data }: SseEvent): StreamMessage | null | 'unreadable' {
  if (data === '[DONE]') return null;
  const payload = parseEventData(data);
  if (payload === undefined) return 'unreadable';
  if (!isObject(payload)) return null;
  const type = isTypeName(payload.type) ? payload.type : event;
  // Proxies in front of a host send bare errors in a stream.
  if (type === '') return isObject(payload.error) ? { type: 'error', payload } : null;
  return { type, payload };
}

/** Returns the response object of a lifecycle event; {} when it is missing. */
export function responseOf({ response }: JsonObject): JsonObject {
  return objectOf(response);
}

/** Writes one event of a stream with its sequence number. */
export function writeEvent(type: string, sequence: number, fields: JsonObject): string {
  return formatSse(type, JSON.stringify({ type, sequence_number: sequence, ...fields }));
}
