// Failures that a directive asks for, in the form of a provider's.
import { ApiError } from '../../canonical/errors.ts';
import type { UpstreamFailure } from '../../canonical/event.ts';
import { makeFailure } from '../../canonical/make-failure.ts';
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';

/** Overload asks to retry after one second, so that a client's retry can be tested quickly. */
export function failureWithStatus(status: number): UpstreamFailure {
  const retryAfterSeconds = status === 429 || status === 503 || status === 529 ? 1 : null;
  const message = `The sandbox was asked to fail with status ${status}.`;
  return { ...makeFailure(status, message), retryAfterSeconds };
}

/** Refuses an impossible request. The message tells the developer why. */
export function refuse(message: string, options?: ErrorOptions): never {
  throw new UpstreamBroken(makeFailure(400, message), options);
}

/** Returns the failure behind what was thrown while playing. Throws what is none. */
export function failureOf(
  error: unknown,
  { signal }: { readonly signal: AbortSignal },
): UpstreamFailure {
  if (signal.aborted) return makeFailure('connection', 'the request was stopped');
  if (error instanceof UpstreamBroken) return error.failure;
  if (error instanceof ApiError) return makeFailure(400, error.message);
  throw error;
}
