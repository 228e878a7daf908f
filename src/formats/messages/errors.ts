// Errors in Messages: `{type:"error",error:{type,message,code},request_id}`, as a body and as a
// stream's `error` event.
import { readErrorMessage, readErrorStatus, readVendorError } from '../error-message.ts';
import {
  documentationUrl,
  type ApiError,
  type ErrorCode,
  type ErrorContext,
} from '../../canonical/errors.ts';
import type { UpstreamFailure } from '../../canonical/event.ts';
import { makeFailure } from '../../canonical/make-failure.ts';
import type { JsonObject } from '../../lib/json.ts';

/** `type`: Anthropic's type for the status, on which its SDKs act. `code`: the registry's code. */
export function writeError(error: ApiError, context: ErrorContext): JsonObject {
  const { code, param, details, vendor, status } = error;
  const message = code === 'context_length_exceeded' ? inOwnWords(error.message) : error.message;
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
 * Claude Code compacts a conversation and goes on at these words alone, and reads how much is too much:
 * github.com/pleaseai/shunt/pull/9, agentgateway/agentgateway#3581 (read 2026-11-30).
 */
function inOwnWords(message: string): string {
  if (ownWords.test(message)) return message;
  const limit = Number(limitInWords.exec(message)?.[1]);
  // Hosts also count the parts of the limit, or of what exceeds it, which is the most.
  const counts = Array.from(message.matchAll(/\b\d{4,7}\b/g), ([digits]) => Number(digits));
  const actual = Math.max(...counts);
  const gap = actual > limit ? `${actual} tokens > ${limit} maximum. ` : '';
  return `prompt is too long: ${gap}${message}`;
}

const limitInWords =
  /(?:\b(?:max|maximum|limit)\b|context (?:length|size|window)|<=)\D{0,40}?\b(\d{4,7})\b/i;

const ownWords =
  /prompt is too long|input is too long for requested model|`max_tokens` exceed context limit/i;

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

/** Reads a stream's `error` event. */
export function readFailure(event: JsonObject): UpstreamFailure {
  const status = readErrorStatus(event.error) ?? 500;
  const message = readErrorMessage(event) ?? 'the stream ended with an error without a message';
  return { ...makeFailure(status, message), ...readVendorError(event) };
}
