// Token counts. Gemini's prompt includes what was read from the cache, but not what its own tools read; the candidates exclude the
// thoughts, which are billed as output. https://ai.google.dev/api/generate-content#UsageMetadata
import { noUsage, readTokenCount, type Usage } from '../../canonical/usage.ts';
import { isObject } from '../../lib/json.ts';

/** null when there are no counts that can be believed: no request is without input. Counts of 0 are left out by Gemini. */
export function readUsage(metadata: unknown): Usage | null {
  if (!isObject(metadata)) return null;
  const count = (name: string) => readTokenCount(metadata[name]) ?? 0;
  const promptTokens = count('promptTokenCount');
  if (promptTokens === 0) return null;
  const cacheReadTokens = Math.min(count('cachedContentTokenCount'), promptTokens);
  const reasoningTokens = count('thoughtsTokenCount');
  return {
    ...noUsage,
    inputTokens: promptTokens - cacheReadTokens + count('toolUsePromptTokenCount'),
    cacheReadTokens,
    outputTokens: count('candidatesTokenCount') + reasoningTokens,
    reasoningTokens,
  };
}

/** What the first chunk of a stream counts of the input. */
export function readEarlyUsage(metadata: unknown): Usage | null {
  const usage = readUsage(metadata);
  return usage && { ...usage, outputTokens: 0, reasoningTokens: 0 };
}
