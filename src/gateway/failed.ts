// The end of a request whose upstream failed: free for the client, and the error it is told.
import { ApiError } from '../canonical/errors.ts';
import { isDatabaseAway } from '../ledger/database-away.ts';
import type { CallFailed } from './call.ts';
import type { Running } from './running.ts';
import { releaseHold } from './settle.ts';
import { toApiError, withoutProvider } from './upstream-error.ts';

/** Releases the hold, books what the provider bills for the failed call as a loss, and gives the error. */
export async function endFailed(
  running: Running,
  failed: Pick<CallFailed, 'failure' | 'told' | 'requestSent' | 'hasStreamed' | 'isWhole' | 'progress'>,
): Promise<ApiError> {
  await releaseHold(running, failed);
  if (running.gateway.runs.isEnding) return shuttingDown();
  const failure = failed.told ?? failed.failure;
  const { route } = running.attempt;
  if (route.transport === 'sandbox') return toApiError(failure);
  return toApiError({ ...failure, message: withoutProvider(failure.message, route.provider) });
}

/** This process was held up for longer than its lease, and whoever took the key over is charged instead. */
export function takenOver(): ApiError {
  const message =
    'This request was held up for so long that another with its Idempotency-Key has taken its place. Nothing was charged for this one; ' +
    'send it again with the same key to get the answer of the other.';
  return new ApiError('upstream_unavailable', message, { retryAfterSeconds: 1 });
}

/** What a client is told when the database is away; any other error stays as it is. */
export function toldOfDatabase(error: unknown): unknown {
  if (!isDatabaseAway(error)) return error;
  const message = 'The gateway cannot read or write its own database at the moment. Nothing was charged; retry shortly.';
  return new ApiError('upstream_unavailable', message, { cause: error, retryAfterSeconds: 1 });
}

/** Another replica, or this one once it is back, takes the request. */
export function shuttingDown(): ApiError {
  return new ApiError('upstream_unavailable', 'The gateway is shutting down. Nothing was charged; retry.', {
    retryAfterSeconds: 1,
  });
}
