// Errors for failures on our side: nothing was charged, and the client should retry.
import { ApiError } from '../canonical/errors.ts';
import { isDatabaseUnavailable } from '../domain/ledger/batcher.ts';

/**
 * Returns the error of a request that stalled for longer than its lease. Another request took over
 * the key, and that one is charged.
 */
export function takenOver(): ApiError {
  const message =
    'This request stalled for so long that another with its Idempotency-Key has taken its place. Nothing was charged for this one; ' +
    'send it again with the same key to get the answer of the other.';
  return new ApiError('upstream_unavailable', message, { retryAfterSeconds: 1 });
}

/** Turns a database outage into the client's error; other errors stay as they are. */
export function explainDatabaseOutage(error: unknown): unknown {
  if (!isDatabaseUnavailable(error)) return error;
  const message =
    'The gateway cannot read or write its own database at the moment. Nothing was charged; retry shortly.';
  return new ApiError('upstream_unavailable', message, { cause: error, retryAfterSeconds: 1 });
}

/**
 * Returns the error while the program stops. Another gateway, or this one after its restart, takes
 * the retry.
 */
export function shuttingDown(): ApiError {
  const message = 'The gateway is shutting down. Nothing was charged; retry.';
  return new ApiError('upstream_unavailable', message, { retryAfterSeconds: 1 });
}
