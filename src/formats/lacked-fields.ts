// The fields of a request that a format lacks and the answer does not need.
import type { CanonicalRequest } from '../canonical/request.ts';

/** Lists those of these fields that the request sets, by Chat's names. A penalty of 0 means none. */
export function lackedFields(request: CanonicalRequest, names: string): string[] {
  const values: Readonly<Record<string, unknown>> = {
    temperature: request.temperature,
    top_p: request.topP,
    top_k: request.topK,
    seed: request.seed,
    frequency_penalty: request.frequencyPenalty || null,
    presence_penalty: request.presencePenalty || null,
    user: request.endUser,
    metadata: request.metadata,
    prompt_cache_key: request.promptCacheKey,
    prompt_cache_retention: request.promptCacheRetention,
    verbosity: request.verbosity,
  };
  return names.split(' ').filter((name) => (values[name] ?? null) !== null);
}
