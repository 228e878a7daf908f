// Errors in OpenAI's shape, and the variants of other hosts.
import { readErrorMessage } from '../error-message.ts';
import { documentationUrl, type ApiError, type ErrorContext } from '../../canonical/errors.ts';
import type { UpstreamFailure } from '../../canonical/event.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { SseEvent } from '../../lib/sse.ts';

export function writeError(error: ApiError, context: ErrorContext): JsonObject {
  return {
    error: {
      message: error.message,
      type: error.code,
      code: error.code,
      param: error.param,
      request_id: context.requestId,
      documentation_url: documentationUrl(error.code, context),
      ...(error.details ? { details: error.details } : null),
    },
  };
}

/** Returns the failure that a stream's chunk reports; null for an ordinary chunk. */
export function readStreamFailure(event: SseEvent, chunk: JsonObject): UpstreamFailure | null {
  if (event.event !== 'error' && !chunk.error) return null;
  const status = readStatus(isObject(chunk.error) ? chunk.error : chunk);
  return {
    kind: status === null ? 'broken-stream' : 'status',
    status,
    message: readErrorMessage(chunk) ?? 'the stream reported an error without a message',
    retryAfterSeconds: null,
  };
}

/** OpenRouter and Perplexity send the HTTP status in `code`, Groq in `status_code`. */
function readStatus(error: JsonObject): number | null {
  const status = [error.status_code, error.status, error.code].find(
    (value) => typeof value === 'number',
  );
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599
    ? status
    : null;
}
