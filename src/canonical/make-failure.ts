import type { UpstreamFailure } from './event.ts';

export type FailedReply = {
  readonly kind: 'failure';
  readonly failure: UpstreamFailure;
  /** The upstream's body: parsed JSON, or text when it is no JSON; null when it did not answer. */
  readonly body: unknown;
  /** `false`: not a byte of the request was sent, so it cannot have been processed. */
  readonly requestSent: boolean;
};

/** `what`: a status of HTTP, or what went wrong without one. */
export function makeFailure(
  what: number | Exclude<UpstreamFailure['kind'], 'status'>,
  message: string,
): UpstreamFailure {
  return typeof what === 'number'
    ? { kind: 'status', status: what, message, retryAfterSeconds: null }
    : { kind: what, status: null, message, retryAfterSeconds: null };
}

/**
 * Returns a 403 that is about one request, not about the credential. As a refused credential it
 * would take the route out of use for all, so it becomes a proxy's error, 502.
 */
export function refusedOne(failure: UpstreamFailure): UpstreamFailure {
  return failure.status === 403 ? { ...failure, status: 502, isCausedByAccount: true } : failure;
}
