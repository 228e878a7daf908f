// Token counts. Gemini's prompt includes cache reads but not what its own tools read. The
// candidates exclude the thoughts, which are billed as output.
// https://ai.google.dev/api/generate-content#UsageMetadata
import {
  noUsage,
  readTokenCount,
  totalInputTokens,
  unlessEmpty,
  type Usage,
} from '../../canonical/usage.ts';
import { readTier } from '../../canonical/service-tier.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';

/**
 * A missing or implausible count is 0; Gemini leaves out counts of 0. Returns null when all are.
 */
export function readUsage(metadata: unknown): Usage | null {
  if (!isObject(metadata)) return null;
  const count = (name: string) => readTokenCount(metadata[name]) ?? 0;
  const promptTokens = count('promptTokenCount');
  const cacheReadTokens = Math.min(count('cachedContentTokenCount'), promptTokens);
  const reasoningTokens = count('thoughtsTokenCount');
  return unlessEmpty({
    ...noUsage,
    inputTokens: promptTokens - cacheReadTokens + count('toolUsePromptTokenCount'),
    cacheReadTokens,
    outputTokens: count('candidatesTokenCount') + reasoningTokens,
    reasoningTokens,
    ...readTier(metadata['serviceTier'] ?? tierOf(metadata['trafficType'])),
  });
}

/** Vertex names the tier so: `ON_DEMAND`, `ON_DEMAND_FLEX`. Others are no tiers that are asked for. */
function tierOf(trafficType: unknown): unknown {
  const [, tier = trafficType] = /^ON_DEMAND_(.+)$/.exec(String(trafficType)) ?? [];
  return String(tier).startsWith('PROVISIONED') ? undefined : tier;
}

/** Returns the input count of a stream's first chunk. */
export function readEarlyUsage(metadata: unknown): Usage | null {
  const usage = readUsage(metadata);
  return usage && unlessEmpty({ ...usage, outputTokens: 0, reasoningTokens: 0 });
}

/** Counts of 0 are left out. `cacheWriteTokenCount` is our own: Google's cache has no price for writes. */
export function writeUsage(usage: Usage): JsonObject {
  const { cacheReadTokens, outputTokens, reasoningTokens, tier } = usage;
  const input = totalInputTokens(usage);
  const counts = {
    promptTokenCount: input,
    cachedContentTokenCount: cacheReadTokens,
    cacheWriteTokenCount: usage.cacheWriteTokens + usage.cacheWrite1hTokens,
    candidatesTokenCount: outputTokens - reasoningTokens,
    thoughtsTokenCount: reasoningTokens,
  };
  return {
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    totalTokenCount: input + outputTokens,
    ...(tier !== undefined && { serviceTier: tier }),
  };
}
