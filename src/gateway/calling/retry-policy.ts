// Decides what follows a failed call: a retry, another route, or neither.
import type { UpstreamFailure } from '../../canonical/event.ts';

/**
 * `again`: the same request may soon succeed there. `elsewhere`: not there, but perhaps on another
 * route. `never`: the request is at fault, or the answer was billed.
 */
type NextStep = 'again' | 'elsewhere' | 'never';

/**
 * Decides what follows a failure. Failed or broken connections, timeouts and unreadable streams are
 * retried. So are the statuses that pass: 408, 409, 429, Groq's 498 (no capacity) and 499 (cancelled there),
 * and 500 and above. A redirect, a rejected credential, a model that is not there (404, 410) and Fireworks's
 * 412 (it cannot run) belong to the route and do not pass. Nor does a size (413) that is too large for the
 * host, or for the operator's tokens a minute there (github.com/openclaw/openclaw/issues/147644, read
 * 2026-11-30). A billed answer is not asked for again: the same
 * request may spoil the next answer too.
 */
export function nextStepAfter({ kind, status, isBilled = false }: UpstreamFailure): NextStep {
  if (isBilled) return 'never';
  if (kind !== 'status' || status === null) return 'again';
  if (status >= 498 || status === 408 || status === 409 || status === 429) return 'again';
  const isOfRoute =
    status < 400 ||
    status === 412 ||
    status === 413 ||
    isMissing(status) ||
    isCredentialRefused(status);
  return isOfRoute ? 'elsewhere' : 'never';
}

/** Returns true when nothing but the request is at fault, though another host may take its size. */
export function blamesRequest(failure: UpstreamFailure): boolean {
  return failure.status === 413 || nextStepAfter(failure) === 'never';
}

/**
 * Returns true for a rejected credential, or a provider that wants to be paid (402), which lasts as
 * long.
 */
export function isCredentialRefused(status: number | null): boolean {
  return status === 401 || status === 402 || status === 403;
}

/** Returns true when the provider has no such model, or no longer. */
export function isMissing(status: number | null): boolean {
  return status === 404 || status === 410;
}

type BackoffOptions = {
  readonly baseMs: number;
  readonly capMs: number;
  readonly random: () => number;
};

/**
 * Returns how long to wait before a retry; null when that is too long to be worth it. `retries`:
 * how many came before. Half of each wait is random, so that requests that failed together do not
 * come back together.
 * @example waitBeforeRetryMs(failure, 1, { baseMs: 250, capMs: 5_000, random: () => 0.5 }) // 375
 */
export function waitBeforeRetryMs(
  { retryAfterSeconds }: UpstreamFailure,
  retries: number,
  { baseMs, capMs, random }: BackoffOptions,
): number | null {
  const askedMs = (retryAfterSeconds ?? 0) * 1_000;
  if (askedMs > capMs) return null;
  const backoffMs = Math.min(baseMs * 2 ** retries, capMs) * (0.5 + random() / 2);
  return askedMs > 0 ? askedMs + baseMs * random() : backoffMs;
}
