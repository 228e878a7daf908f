// Errors in Messages: `{type:"error",error:{type,message,code},request_id}`, as a body and as a
// stream's `error` event.
import { readErrorMessage, readVendorError } from '../error-message.ts';
import {
  documentationUrl,
  type ApiError,
  type ErrorCode,
  type ErrorContext,
} from '../../canonical/errors.ts';
import type { UpstreamFailure } from '../../canonical/event.ts';
import { makeFailure } from '../../canonical/make-failure.ts';
import { type JsonObject, objectOf } from '../../lib/json.ts';

/** `type`: Anthropic's type for the status, on which its SDKs act. `code`: the registry's code. */
export function writeError(error: ApiError, context: ErrorContext): JsonObject {
  const { code, message, param, details, vendor, status } = error;
  const type =
    codeTypes[code] ?? errorTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  return {
    type: 'error',
    error: {
      ...details,
      type,
      message,
      code,
      ...(param === null ? {} : { param }),
      ...(vendor?.details && { details: vendor.details }),
      documentation_url: documentationUrl(code, context),
    },
    request_id: context.requestId,
  };
}

/**
 * Anthropic sends `overloaded_error` with its status 529. The gateway sends it with a 503, which
 * every client retries. A spent cap is no matter of seconds: with `billing_error` Claude Code stops
 * and shows the message.
 */
const codeTypes: Partial<Readonly<Record<ErrorCode, string>>> = {
  overloaded: 'overloaded_error',
  not_supported: 'not_supported',
  key_daily_limit_reached: 'billing_error',
  key_monthly_limit_reached: 'billing_error',
  member_budget_reached: 'billing_error',
};

const errorTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
};

/**
 * Reads a stream's `error` event. It arrives under HTTP 200, so its type is mapped back to the
 * status that it has outside a stream.
 */
export function readFailure(event: JsonObject): UpstreamFailure {
  const type = objectOf(event.error).type;
  const status = typeof type === 'string' ? (upstreamStatuses.get(type) ?? 500) : 500;
  const message = readErrorMessage(event) ?? 'the stream ended with an error without a message';
  return { ...makeFailure(status, message), ...readVendorError(event) };
}

const upstreamStatuses: ReadonlyMap<string, number> = new Map([
  ...Object.entries(errorTypes).map(([status, type]): [string, number] => [type, Number(status)]),
  ['invalid_request_error', 400],
  ['overloaded_error', 529],
]);
