// The failures that the sandbox is asked for, as a provider's would come.
import type { UpstreamFailure } from '../../canonical/event.ts';

/** Overload asks for one second of patience, so that a client's retry can be tried out quickly. */
export function failureWithStatus(status: number): UpstreamFailure {
  const retryAfterSeconds = status === 429 || status === 503 || status === 529 ? 1 : null;
  return { kind: 'status', status, message: `The sandbox was asked to fail with status ${status}.`, retryAfterSeconds };
}

/** What the request asks for cannot be; the message tells the developer why. */
export function refusal(message: string): UpstreamFailure {
  return { kind: 'status', status: 400, message, retryAfterSeconds: null };
}
