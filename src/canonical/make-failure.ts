import type { UpstreamFailure } from './event.ts';

/** `what`: a status of HTTP, or what went wrong without one. */
export function makeFailure(
  what: number | Exclude<UpstreamFailure['kind'], 'status'>,
  message: string,
): UpstreamFailure {
  return typeof what === 'number'
    ? { kind: 'status', status: what, message, retryAfterSeconds: null }
    : { kind: what, status: null, message, retryAfterSeconds: null };
}
