// Token counts of Converse: the input excludes what was read from or written to the cache, and the
// output includes reasoning.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html
import { readTokenCount, unlessEmpty, type Usage } from '../../canonical/usage.ts';
import { readTier } from '../../canonical/service-tier.ts';
import { isObject, type JsonObject, objectOf, objectsOf } from '../../lib/json.ts';

/** `answer`: has `usage`, and the tier if one was named. Returns null when all counts are 0. */
export function readUsage({ usage, serviceTier }: JsonObject): Usage | null {
  if (!isObject(usage)) return null;
  const count = (...names: readonly string[]) =>
    names.map((name) => readTokenCount(usage[name])).find((tokens) => tokens !== null) ?? 0;
  const written = count('cacheWriteInputTokens', 'cacheWriteInputTokenCount');
  const cacheWrite1hTokens = Math.min(longWrites(usage['cacheDetails']), written);
  return unlessEmpty({
    inputTokens: count('inputTokens'),
    cacheReadTokens: count('cacheReadInputTokens', 'cacheReadInputTokenCount'),
    cacheWriteTokens: written - cacheWrite1hTokens,
    cacheWrite1hTokens,
    outputTokens: count('outputTokens'),
    reasoningTokens: 0,
    ...readTier(objectOf(serviceTier)['type']),
  });
}

function longWrites(details: unknown): number {
  const entries = objectsOf(details);
  return entries
    .filter(({ ttl }) => ttl === '1h')
    .reduce((sum, { inputTokens }) => sum + (readTokenCount(inputTokens) ?? 0), 0);
}
