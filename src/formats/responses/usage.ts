// Usage in Responses: `input_tokens` includes reads and writes of the prompt cache, `output_tokens`
// includes reasoning.
import {
  readTokenCount,
  totalInputTokens,
  unlessEmpty,
  type Usage,
} from '../../canonical/usage.ts';
import { readTier } from '../../canonical/service-tier.ts';
import { isObject, type JsonObject, objectOf } from '../../lib/json.ts';

/**
 * Splits the counts of a response into disjoint buckets. A missing or implausible count is 0.
 * Returns null when all are.
 */
export function readUsage({ usage: value, service_tier }: JsonObject): Usage | null {
  if (!isObject(value)) return null;
  const input = readTokenCount(value.input_tokens) ?? 0;
  const output = readTokenCount(value.output_tokens) ?? 0;
  const inputDetails = objectOf(value.input_tokens_details);
  const outputDetails = objectOf(value.output_tokens_details);
  const cacheRead = Math.min(readTokenCount(inputDetails.cached_tokens) ?? 0, input);
  const cacheWrite = Math.min(
    readTokenCount(inputDetails.cache_write_tokens) ?? 0,
    input - cacheRead,
  );
  const cacheWriteLong = Math.min(readLongCacheWrite(inputDetails), cacheWrite);
  return unlessEmpty({
    inputTokens: input - cacheRead - cacheWrite,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite - cacheWriteLong,
    cacheWrite1hTokens: cacheWriteLong,
    outputTokens: output,
    reasoningTokens: Math.min(readTokenCount(outputDetails.reasoning_tokens) ?? 0, output),
    ...readTier(service_tier),
  });
}

/** OpenAI's long lifetime (12 hours) counts as the more expensive of the two buckets. */
function readLongCacheWrite(inputDetails: Record<string, unknown>): number {
  const details = inputDetails.cache_write_tokens_details;
  return (isObject(details) && readTokenCount(details.ttl_12h_tokens)) || 0;
}

export function writeUsage(usage: Usage): JsonObject {
  const input = totalInputTokens(usage);
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens + usage.cacheWrite1hTokens,
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: input + usage.outputTokens,
  };
}
