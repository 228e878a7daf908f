// Token counts. Gemini's prompt includes what was read from the cache, but not what its own tools read; the candidates exclude the
// thoughts, which are billed as output. https://ai.google.dev/api/generate-content#UsageMetadata
import { noUsage, readTokenCount, unlessEmpty, type Usage } from '../../canonical/usage.ts';
import { isObject } from '../../lib/json.ts';

/** A count that is missing, or cannot be believed, is 0; null when all are. Gemini itself leaves out counts of 0. */
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
  });
}

/** What the first chunk of a stream counts of the input. */
export function readEarlyUsage(metadata: unknown): Usage | null {
  const usage = readUsage(metadata);
  return usage && unlessEmpty({ ...usage, outputTokens: 0, reasoningTokens: 0 });
}
