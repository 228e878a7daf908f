// Errors in Responses: `{error:{message,type,code,param}}` as a body, and the events that end a
// stream.
import { readErrorMessage, readErrorStatus, readVendorError } from '../error-message.ts';
import { documentationUrl, type ApiError, type ErrorContext } from '../../canonical/errors.ts';
import type { UpstreamFailure } from '../../canonical/event.ts';
import { makeFailure } from '../../canonical/make-failure.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { ClientRequest } from '../format.ts';
import { formatSse } from '../../lib/sse.ts';

/** Writes the body of an error answer. `type` is the registry's code, `code` it or OpenAI's own. */
export function writeError(error: ApiError, context: ErrorContext): JsonObject {
  return { error: errorFields(error, context) };
}

/**
 * Codex cuts a history that is too long and goes on, also while it compacts, but only on
 * `response.failed`; an answer 400 ends the turn. It alone sends `client_metadata`.
 */
export function failsInStream({ code }: ApiError, { body }: Pick<ClientRequest, 'body'>): boolean {
  return code === 'context_length_exceeded' && isObject(body.client_metadata);
}

/**
 * Writes the events that end a stream that has begun: `error`, on which SDKs throw, then
 * `response.failed`, the only one that Codex knows. `response`: what the client has seen of the
 * answer. `sequence`: the next sequence number.
 */
export function writeFailure(failed: {
  readonly error: ApiError;
  readonly context: ErrorContext;
  readonly response: JsonObject;
  readonly sequence: number;
}): string {
  const { error, context, sequence } = failed;
  const { message, param } = error;
  const code = codeOf(error);
  // The published type is flat, but OpenAI sends it nested (recorded 2025-11-18). Clients of both
  // kinds exist.
  const event = {
    type: 'error',
    sequence_number: sequence,
    code,
    message,
    param,
    error: errorFields(error, context),
  };
  const response = { ...failed.response, status: 'failed', error: { code, message } };
  const last = { type: 'response.failed', sequence_number: sequence + 1, response };
  return (
    formatSse('error', JSON.stringify(event)) + formatSse('response.failed', JSON.stringify(last))
  );
}

function errorFields(error: ApiError, context: ErrorContext): JsonObject {
  const { code, message, param, details } = error;
  return {
    message,
    type: code,
    code: codeOf(error),
    param,
    request_id: context.requestId,
    documentation_url: documentationUrl(code, context),
    ...(details ? { details } : {}),
  };
}

/** OpenAI's own code, when OpenAI refused the request. */
function codeOf({ vendor, code }: ApiError): string {
  return vendor?.code ?? code;
}

/** Reads the error of an `error` event or a failed response. */
export function readFailure(value: unknown): UpstreamFailure {
  const error = isObject(value) && isObject(value.error) ? value.error : value;
  const message = readErrorMessage(error) ?? 'the response failed without a message';
  return { ...makeFailure(readErrorStatus(error) ?? 500, message), ...readVendorError({ error }) };
}
