// Cache hits and replays by day, for the account. Pure.
import type { ActivitySum } from '../../domain/activity/queries.ts';
import type { CacheDay } from '../contract/usage.ts';

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
