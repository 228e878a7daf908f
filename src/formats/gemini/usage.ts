// Token counts. Gemini's prompt includes cache reads but not what its own tools read. The
// candidates exclude the thoughts, which are billed as output, but for some answers and layers over
// Gemini, whose total says so: github.com/headroomlabs-ai/headroom/pull/2639 (read 2026-11-30).
// https://ai.google.dev/api/generate-content#UsageMetadata
import {
  noUsage,
  readTokenCount,
  totalAudioTokens,
  totalInputTokens,
  unlessEmpty,
  type Usage,
} from '../../canonical/usage.ts';
import { readTier } from '../../canonical/service-tier.ts';
import { isObject, type JsonObject, objectsOf } from '../../lib/json.ts';

/**
 * A missing or implausible count is 0; Gemini leaves out counts of 0. Returns null when all are.
 */
export function readUsage(metadata: unknown): Usage | null {
  if (!isObject(metadata)) return null;
  const count = (name: string) => readTokenCount(metadata[name]) ?? 0;
  const promptTokens = count('promptTokenCount');
  const cacheReadTokens = Math.min(count('cachedContentTokenCount'), promptTokens);
  const reasoningTokens = count('thoughtsTokenCount');
  const freshTokens = promptTokens - cacheReadTokens;
  const toolTokens = count('toolUsePromptTokenCount');
  const shown = count('candidatesTokenCount');
  const isInside =
    reasoningTokens <= shown && promptTokens + toolTokens + shown === count('totalTokenCount');
  return unlessEmpty({
    ...noUsage,
    inputTokens: freshTokens + toolTokens,
    cacheReadTokens,
    outputTokens: shown + (isInside ? 0 : reasoningTokens),
    reasoningTokens,
    ...readSound(metadata, { freshTokens, cacheReadTokens, toolTokens }),
    ...readTier(metadata['serviceTier'] ?? tierOf(metadata['trafficType'])),
  });
}

/** True when what the provider's own tools made the model read is counted. */
export function hasToolInput(metadata: unknown): boolean {
  return isObject(metadata) && (readTokenCount(metadata.toolUsePromptTokenCount) ?? 0) > 0;
}

/** The input: new, cached, and what the provider's tools made the model read. */
type PromptTokens = Record<'freshTokens' | 'cacheReadTokens' | 'toolTokens', number>;

/**
 * The counts of sound, if there is any. Those of the prompt include the cache's, which may be told nowhere
 * else.
 */
function readSound(
  {
    promptTokensDetails: prompt,
    cacheTokensDetails: cache,
    toolUsePromptTokensDetails: read,
  }: JsonObject,
  { freshTokens, cacheReadTokens, toolTokens }: PromptTokens,
): Partial<Usage> {
  const cached = Math.max(soundIn(cache), soundIn(prompt) - freshTokens);
  const cacheReadAudioTokens = Math.min(cached, cacheReadTokens);
  const fresh = Math.min(Math.max(soundIn(prompt) - cacheReadAudioTokens, 0), freshTokens);
  const audioTokens = fresh + Math.min(soundIn(read), toolTokens);
  return audioTokens + cacheReadAudioTokens > 0 ? { audioTokens, cacheReadAudioTokens } : {};
}

/** Several entries can be of one kind (github.com/BerriAI/litellm/pull/22608, read 2026-12-01). */
function soundIn(details: unknown): number {
  return objectsOf(details)
    .filter(({ modality }) => modality === 'AUDIO')
    .reduce((sum, { tokenCount }) => sum + (readTokenCount(tokenCount) ?? 0), 0);
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
    ...writeSound(usage),
    ...(tier !== undefined && { serviceTier: tier }),
  };
}

function writeSound(usage: Usage): JsonObject {
  const { cacheReadAudioTokens = 0 } = usage;
  const details = (tokenCount: number) => [{ modality: 'AUDIO', tokenCount }];
  const sound = totalAudioTokens(usage);
  return {
    ...(sound > 0 && { promptTokensDetails: details(sound) }),
    ...(cacheReadAudioTokens > 0 && { cacheTokensDetails: details(cacheReadAudioTokens) }),
  };
}
