// Failures in a stream: an error object instead of a chunk, sometimes in a list.
import type { UpstreamFailure } from '../../canonical/event.ts';
import { isObject } from '../../lib/json.ts';
import { readErrorMessage } from '../error-message.ts';

/** Returns the failure that an event reports; null for an ordinary chunk. */
export function readStreamFailure(event: unknown): UpstreamFailure | null {
  const chunk: unknown = Array.isArray(event) ? event[0] : event;
  if (!isObject(chunk) || !chunk.error) return null;
  const code = isObject(chunk.error) ? chunk.error.code : undefined;
  const status = typeof code === 'number' && code >= 400 && code <= 599 ? code : null;
  const message = readErrorMessage(chunk) ?? 'the stream ended in an error';
  return {
    kind: status === null ? 'broken-stream' : 'status',
    status,
    message,
    retryAfterSeconds: null,
  };
}

export function brokenStream(): UpstreamFailure {
  return {
    kind: 'broken-stream',
    status: null,
    message: 'the stream ended without a finish reason',
    retryAfterSeconds: null,
  };
}
