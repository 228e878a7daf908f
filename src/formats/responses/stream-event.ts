// One event of an upstream's stream, parsed. Both the reader and the straight path start from here.
import { isObject } from '../../lib/json.ts';
import type { SseEvent } from '../../lib/sse.ts';
import type { JsonObject } from '../format.ts';

export type StreamMessage = { readonly type: string; readonly payload: JsonObject };

/** null: nothing to act on, as `[DONE]`. `'unreadable'`: not JSON. */
export function parseStreamEvent({ event, data }: SseEvent): StreamMessage | null | 'unreadable' {
  if (data === '[DONE]') return null;
  let payload: unknown;
  try {
    payload = JSON.parse(data);
  } catch {
    return 'unreadable';
  }
  if (!isObject(payload)) return null;
  const type = typeof payload.type === 'string' && payload.type !== '' ? payload.type : event;
  // Proxies before a host put bare errors into a stream.
  if (type === '') return isObject(payload.error) ? { type: 'error', payload } : null;
  return { type, payload };
}

/** The response object of a lifecycle event; {} when it is missing. */
export function responseOf({ response }: JsonObject): JsonObject {
  return isObject(response) ? response : {};
}
