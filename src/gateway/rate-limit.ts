// Requests a minute, by a token bucket for each key: its capacity is the limit, so a burst of a whole minute's worth passes after a quiet one.
import { ApiError } from '../canonical/errors.ts';

export type RateLimiter = {
  /** Takes one request. Throws ApiError `rate_limit_exceeded`. Returns the headers that tell the client where it stands. */
  readonly take: (keyId: string, requestsPerMinute: number | null) => Readonly<Record<string, string>>;
};

type Bucket = { tokens: number; updatedMs: number };

const noHeaders = {};
/** Buckets are swept of the full ones, which equal absent ones, when their number has doubled. */
const sweepMin = 1_000;

export function createRateLimiter(nowMs: () => number): RateLimiter {
  const buckets = new Map<string, Bucket>();
  let sweepAt = sweepMin;
  return {
    take(keyId, requestsPerMinute) {
      if (requestsPerMinute === null) return noHeaders;
      const now = nowMs();
      const bucket = refill(buckets.get(keyId), requestsPerMinute, now);
      buckets.set(keyId, bucket);
      if (buckets.size >= sweepAt) sweepAt = sweep(buckets, now);
      if (bucket.tokens < 1) throw limitReached(bucket, requestsPerMinute);
      bucket.tokens -= 1;
      return rateHeaders(bucket, requestsPerMinute);
    },
  };
}

function refill(bucket: Bucket | undefined, capacity: number, now: number): Bucket {
  if (!bucket) return { tokens: capacity, updatedMs: now };
  const elapsedMs = Math.max(0, now - bucket.updatedMs);
  bucket.tokens = Math.min(capacity, bucket.tokens + (elapsedMs * capacity) / 60_000);
  bucket.updatedMs = now;
  return bucket;
}

/** A bucket that was not touched for a minute is full, whatever its capacity. */
function sweep(buckets: Map<string, Bucket>, now: number): number {
  for (const [keyId, bucket] of buckets) if (now - bucket.updatedMs >= 60_000) buckets.delete(keyId);
  return Math.max(sweepMin, buckets.size * 2);
}

function limitReached(bucket: Bucket, requestsPerMinute: number): ApiError {
  const retryAfterSeconds = requestsPerMinute === 0 ? 60 : Math.max(1, Math.ceil(((1 - bucket.tokens) * 60) / requestsPerMinute));
  return new ApiError(
    'rate_limit_exceeded',
    `This key may send ${requestsPerMinute} requests a minute. Retry in ${retryAfterSeconds} s.`,
    {
      retryAfterSeconds,
      details: { limit: 'requests_per_minute', limit_requests: requestsPerMinute, remaining_requests: 0 },
      headers: rateHeaders(bucket, requestsPerMinute),
    },
  );
}

/** The names and forms that OpenAI uses, which its SDKs and others' tools read. */
function rateHeaders(bucket: Bucket, requestsPerMinute: number): Readonly<Record<string, string>> {
  const missing = requestsPerMinute - bucket.tokens;
  const resetMs = requestsPerMinute === 0 ? 60_000 : Math.ceil((missing * 60_000) / requestsPerMinute);
  return {
    'x-ratelimit-limit-requests': String(requestsPerMinute),
    'x-ratelimit-remaining-requests': String(Math.max(0, Math.floor(bucket.tokens))),
    'x-ratelimit-reset-requests': resetMs < 1_000 ? `${resetMs}ms` : `${Math.ceil(resetMs / 1_000)}s`,
  };
}
