// Errors: for clients, and in an upstream's stream, where one stands instead of a chunk, sometimes in a
// list.
import {
  documentationUrl,
  type ApiError,
  type ErrorCode,
  type ErrorContext,
} from '../../canonical/errors.ts';
import type { UpstreamFailure } from '../../canonical/event.ts';
import { makeFailure } from '../../canonical/make-failure.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { readErrorMessage, readErrorStatus } from '../error-message.ts';
import { brokenStream } from '../stream-progress.ts';

/** Returns the failure that an event reports; null for an ordinary chunk. */
export function readStreamFailure(event: unknown): UpstreamFailure | null {
  const chunk: unknown = Array.isArray(event) ? event[0] : event;
  if (!isObject(chunk) || !chunk.error) return null;
  const status = readErrorStatus(chunk.error);
  const message = readErrorMessage(chunk) ?? 'the stream ended in an error';
  return makeFailure(status ?? 'broken-stream', message);
}

export function unfinished(): UpstreamFailure {
  return brokenStream('the stream ended without a finish reason');
}

/** Google's form: `{error: {code, message, status, details}}`. Our own code is the `reason`. */
export function writeError(error: ApiError, context: ErrorContext): JsonObject {
  const { code, message, param, status, details, retryAfterSeconds } = error;
  const quota = quotas[code];
  const metadata = {
    ...details,
    code,
    request_id: context.requestId,
    ...(param !== null && { param }),
  };
  return {
    error: {
      code: status,
      message,
      status: statusName(status),
      details: [
        {
          '@type': `${typePrefix}ErrorInfo`,
          reason: code.toUpperCase(),
          domain: 'tollgate',
          // Its values are texts.
          metadata: Object.fromEntries(
            Object.entries(metadata)
              .filter(([, value]) => value !== null && value !== undefined)
              .map(([name, value]) => [
                name,
                typeof value === 'string' ? value : JSON.stringify(value),
              ]),
          ),
        },
        {
          '@type': `${typePrefix}Help`,
          links: [{ description: code, url: documentationUrl(code, context) }],
        },
        ...(quota
          ? [
              {
                '@type': `${typePrefix}QuotaFailure`,
                violations: [{ quotaId: quota, description: message }],
              },
            ]
          : []),
        ...(retryAfterSeconds === null
          ? []
          : [{ '@type': `${typePrefix}RetryInfo`, retryDelay: `${retryAfterSeconds}s` }]),
      ],
    },
  };
}

const typePrefix = 'type.googleapis.com/google.rpc.';

/** Clients give up at once when a limit of a day is named so, and wait for others. */
const quotas: Partial<Readonly<Record<ErrorCode, string>>> = {
  key_daily_limit_reached: 'KeySpendPerDay',
  key_monthly_limit_reached: 'KeySpendPerMonthDaily',
  member_budget_reached: 'MemberSpendPerMonthDaily',
  rate_limit_exceeded: 'RequestsPerMinute',
};

function statusName(status: number): string {
  return statusNames[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL');
}

const statusNames: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  501: 'UNIMPLEMENTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};
