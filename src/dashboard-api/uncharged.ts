// Requests without a charge, for the account: failures, cache hits and replays. Pure.
import type { ActivitySum, RecentError } from '../domain/activity/queries.ts';
import { errorKinds } from '../canonical/errors.ts';
import type { CacheDay, FailedRequest } from '../dashboard-contract/usage.ts';

export function toFailedRequest(error: RecentError, keyName: string): FailedRequest {
  // An older gateway may have stored a code that no longer exists.
  const known = Object.hasOwn(errorKinds, error.code)
    ? errorKinds[error.code as keyof typeof errorKinds]
    : errorKinds.internal_error;
  const { status, meaning, remedy } = known;
  return {
    request_id: error.requestId,
    created_at: new Date(error.createdAtMs).toISOString(),
    key: { id: error.keyId, name: keyName },
    model: error.modelId === '' ? null : error.modelId,
    path: error.path,
    code: error.code,
    status,
    meaning,
    remedy,
  };
}

/** Returns the days with replays, newest first. `sums`: grouped by day. */
export function toCacheDays(sums: readonly ActivitySum[]): readonly CacheDay[] {
  const days = new Map<string, CacheDay>();
  for (const { group: day, outcome, requests, savedMicros, inputTokens, outputTokens } of sums) {
    if (outcome !== 'hit' && outcome !== 'idempotent-replay') continue;
    const before = days.get(day) ?? {
      day,
      hits: 0,
      replays: 0,
      saved_micros: 0,
      input_tokens: 0,
      output_tokens: 0,
    };
    days.set(day, {
      day,
      hits: before.hits + (outcome === 'hit' ? requests : 0),
      replays: before.replays + (outcome === 'hit' ? 0 : requests),
      saved_micros: before.saved_micros + savedMicros,
      input_tokens: before.input_tokens + inputTokens,
      output_tokens: before.output_tokens + outputTokens,
    });
  }
  return [...days.values()].toSorted((one, other) => (one.day < other.day ? 1 : -1));
}
