// Errors in OpenAI's shape, and the variants of other hosts.
import {
  readErrorMessage,
  readErrorStatus,
  readVendorError,
  reportedError,
} from '../error-message.ts';
import { documentationUrl, type ApiError, type ErrorContext } from '../../canonical/errors.ts';
import type { UpstreamFailure } from '../../canonical/event.ts';
import { makeFailure } from '../../canonical/make-failure.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { SseEvent } from '../../lib/sse.ts';

/**
 * `type`: OpenAI's type for the status, on which its clients act. `code`: the registry's, or OpenAI's
 * own.
 */
export function writeError(error: ApiError, context: ErrorContext): JsonObject {
  const { status } = error;
  return {
    error: {
      message: error.message,
      type: errorTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error'),
      code: error.vendor?.code ?? error.code,
      param: error.param,
      request_id: context.requestId,
      documentation_url: documentationUrl(error.code, context),
      ...(error.details ? { details: error.details } : null),
    },
  };
}

const errorTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  429: 'rate_limit_error',
};

/** Returns the failure that a stream's chunk reports; null for an ordinary chunk. */
export function readStreamFailure(event: SseEvent, chunk: JsonObject): UpstreamFailure | null {
  const error = reportedError(chunk);
  if (event.event !== 'error' && error === null) return null;
  const status = readErrorStatus(isObject(error) ? error : chunk);
  const message = readErrorMessage(chunk) ?? 'the stream reported an error without a message';
  return { ...makeFailure(status ?? 'broken-stream', message), ...readVendorError(chunk) };
}
