// Tells clients about their rate limits: headers in OpenAI's style, which SDKs and tools read, the
// structured fields of the IETF's draft, and the 429.
// https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/ (revision 11)
import { ApiError } from '../../canonical/errors.ts';
import { msUntil, type Budget } from '../../domain/limits/bucket.ts';
import type { SlotLimit } from '../../domain/limits/slots.ts';
import type { Headers } from '../client.ts';

export type LimitScope = 'key' | 'account';

/** A limit a minute, and what the request needs of it. */
export type Need = Budget & {
  readonly unit: 'requests' | 'tokens';
  /** What the requests are, if they are of one kind. */
  readonly kind?: 'token counts';
  readonly scope: LimitScope;
  readonly amount: number;
};
type LimitState = Need & { readonly left: number };

export type ScopedSlotLimit = SlotLimit & { readonly scope: LimitScope };

/** A limit of 0 ends only when somebody changes it. SDKs retry a 429 unless they are told not to. */
const raise = 'Have the limit raised.';
const final = { 'x-should-retry': 'false' };

const subjects = { key: 'This key', account: 'This account, with all its keys,' } as const;

/** The draft's unit without a name is `requests`. Its registry has none for tokens. */
const quotaUnits = { requests: '', tokens: ';qu="tokens"' } as const;

/**
 * Adds the headers of a limit to those of the limits before it. `waitMs`: the draft's `t`, the time
 * until more than `r` may be used; default: until one more may be.
 */
export function withRateHeaders(
  headers: Headers,
  { unit, perMinute, left }: LimitState,
  waitMs?: number,
): Headers {
  const remaining = remainingOf(left);
  const msTo = (level: number) => msUntil(level, { now: left, perMinute });
  const untilFullMs = msTo(perMinute);
  const seconds = Math.ceil((waitMs ?? msTo(Math.min(remaining + 1, perMinute))) / 1_000);
  return {
    ...headers,
    [`x-ratelimit-limit-${unit}`]: String(perMinute),
    [`x-ratelimit-remaining-${unit}`]: String(remaining),
    [`x-ratelimit-reset-${unit}`]: duration(untilFullMs),
    'ratelimit-policy': listed(
      headers['ratelimit-policy'],
      `"${unit}";q=${bounded(perMinute)}${quotaUnits[unit]};w=60`,
    ),
    ratelimit: listed(
      headers['ratelimit'],
      `"${unit}";r=${bounded(remaining)};t=${bounded(seconds)}`,
    ),
  };
}

/** An integer of a structured field has 15 digits (RFC 9651). A parser drops the field otherwise. */
function bounded(integer: number): number {
  return Math.min(integer, 999_999_999_999_999);
}

function listed(list: string | undefined, item: string): string {
  return list === undefined ? item : `${list}, ${item}`;
}

/** Returns the ApiError 429. `headers`: those of the limits that had room. */
export function rateRefusal(state: LimitState, headers: Headers): ApiError {
  const { unit, kind = unit, scope, perMinute, amount, left } = state;
  const waitMs = msUntil(amount, { now: left, perMinute });
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000));
  const size =
    unit === 'tokens' ? ` This request needs ${amount}, and ${remainingOf(left)} are left.` : '';
  return new ApiError(
    'rate_limit_exceeded',
    perMinute === 0
      ? `${subjects[scope]} may send no ${kind}: its limit is 0 a minute. ${raise}`
      : `${subjects[scope]} may send ${counted(perMinute, kind)} a minute.${size} Retry in ${retryAfterSeconds} s.`,
    {
      retryAfterSeconds: perMinute === 0 ? null : retryAfterSeconds,
      details: {
        limit: `${kind.replace(' ', '_')}_per_minute`,
        scope,
        maximum: perMinute,
        required: amount,
        remaining: remainingOf(left),
        reset_seconds: perMinute === 0 ? null : retryAfterSeconds,
      },
      headers: {
        // The draft wants `t` to name the same time as Retry-After.
        ...withRateHeaders(headers, state, retryAfterSeconds * 1_000),
        ...(perMinute === 0 && final),
      },
    },
  );
}

/** `max`: batches that an account may have created at once. */
export function batchesRefusal(max: number): ApiError {
  return new ApiError(
    'rate_limit_exceeded',
    `An account may have ${max} batches created at once. Retry when one of them is created.`,
    {
      retryAfterSeconds: 1,
      details: { limit: 'concurrent_batches', scope: 'account', maximum: max },
    },
  );
}

export function refusedLinesRefusal(perMinute: number, left: number): ApiError {
  const retryAfterSeconds = Math.max(1, Math.ceil(msUntil(1, { now: left, perMinute }) / 1_000));
  return new ApiError(
    'rate_limit_exceeded',
    `Batches of this account that were refused have had too many lines: ${perMinute} a minute are read for them. Retry in ${retryAfterSeconds} s.`,
    {
      retryAfterSeconds,
      details: { limit: 'refused_lines_per_minute', scope: 'account', maximum: perMinute },
    },
  );
}

export function slotRefusal({ scope, max }: ScopedSlotLimit, headers: Headers): ApiError {
  return new ApiError(
    'rate_limit_exceeded',
    max === 0
      ? `${subjects[scope]} may run no requests: its limit is 0 at once. ${raise}`
      : `${subjects[scope]} may run ${counted(max, 'requests')} at once, and as many are running. Retry when one of them has ended.`,
    {
      retryAfterSeconds: max === 0 ? null : 1,
      details: {
        limit: 'concurrent_requests',
        scope,
        maximum: max,
        required: 1,
        remaining: 0,
        reset_seconds: null,
      },
      headers: max === 0 ? { ...headers, ...final } : headers,
    },
  );
}

/** `counted(1, 'requests')` is "1 request". */
function counted(count: number, plural: string): string {
  return `${count} ${count === 1 ? plural.slice(0, -1) : plural}`;
}

function remainingOf(left: number): number {
  return Math.max(0, Math.floor(left));
}

/** Examples: `17ms`, `12s`, `1m30s`. */
function duration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${milliseconds}ms`;
  const seconds = Math.ceil(milliseconds / 1_000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
