// What a failed call is worth: another try, another route, or neither.
import type { UpstreamFailure } from '../canonical/event.ts';

/** `again`: the same request may succeed there shortly. `elsewhere`: not there, but perhaps by another route. `never`: the request is at fault, or the answer was billed. */
export type NextStep = 'again' | 'elsewhere' | 'never';

/**
 * Whatever is no answer is tried again: a connection that fails or breaks, a silence, a stream that cannot be read. Of statuses, those
 * that pass: 408, 409, 429 and from 500 on. A redirect and a refused credential are the route's own and do not pass. An answer that
 * was billed is not asked for again: the same request may well spoil the next one too.
 */
export function nextStepAfter({ kind, status, isBilled = false }: UpstreamFailure): NextStep {
  if (isBilled) return 'never';
  if (kind !== 'status' || status === null) return 'again';
  if (status >= 500 || status === 408 || status === 409 || status === 429) return 'again';
  return status < 400 || isCredentialRefused(status) ? 'elsewhere' : 'never';
}

/** Or wants money, which is as lasting. */
export function isCredentialRefused(status: number | null): boolean {
  return status === 401 || status === 402 || status === 403;
}

export type BackoffOptions = { readonly baseMs: number; readonly capMs: number; readonly random: () => number };

/**
 * How long to wait before a route is tried again; null: longer than is worth it. `retries`: how many there were before. Half of each wait
 * is chance, so that requests that failed together do not come back together.
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
