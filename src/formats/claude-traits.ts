// What a generation of Claude accepts, in whichever format it is asked, derived from the model id:
// the catalogue has no field for it, and a wrong guess is a refused request. From
// docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-adaptive-thinking.html and
// openrouter.ai/docs (Claude 4.7 migration), read 2026-11-20. Neither says that 4.1 to 4.6 refuse
// top_p beside temperature.
import type { CanonicalRequest } from '../canonical/request.ts';
import type { JsonObject } from '../lib/json.ts';
import { promptCacheOf, readClaudeId } from '../terms/prompt-cache.ts';

export type ClaudeTraits = {
  /**
   * `budget`: thinking takes `budget_tokens`. `adaptive`: it takes `effort` and refuses budgets.
   * `both`: either.
   */
  readonly thinking: 'budget' | 'adaptive' | 'both';
  /** `all`: temperature and top_p together. `one`: either of them. `none`: neither, nor top_k. */
  readonly sampling: 'all' | 'one' | 'none';
  /** True when the conversation may hold `role: system`. */
  readonly systemMessages: boolean;
  /** `xhigh` came with Opus 4.7. */
  readonly xhighEffort: boolean;
  /** True when the host takes reasoning back that it did not sign. */
  readonly unsignedThinking: boolean;
  /** The shortest prompt that a mark puts into the cache; null: the host caches without marks. */
  readonly cachedTokensMin: number | null;
};

/**
 * Other vendors copied Messages when thinking only had budgets. DeepSeek, Kimi and MiniMax want all
 * earlier reasoning, and Kimi signs none: github.com/NousResearch/hermes-agent/pull/17510 (read
 * 2026-11-30).
 */
const foreignTraits: ClaudeTraits = {
  thinking: 'budget',
  sampling: 'all',
  systemMessages: false,
  xhighEffort: false,
  unsignedThinking: true,
  cachedTokensMin: null,
};

/**
 * Example: `claudeTraits('claude-haiku-4-5-20251001')`: budgets, temperature or top_p, no system
 * messages in the conversation.
 */
export function claudeTraits(upstreamModel: string): ClaudeTraits {
  if (!upstreamModel.includes('claude')) return foreignTraits;
  const { family, version } = readClaudeId(upstreamModel);
  return {
    thinking: version <= 405 ? 'budget' : version === 406 ? 'both' : 'adaptive',
    sampling: version < 401 ? 'all' : version <= 406 ? 'one' : 'none',
    systemMessages: (family === 'opus' && version >= 408) || (family === 'fable' && version >= 500),
    xhighEffort: version >= 407,
    unsignedThinking: false,
    cachedTokensMin: promptCacheOf(upstreamModel).tokensMin,
  };
}

/**
 * Returns the sampling fields of a request. Adds to `ignored` what the model, or its thinking, does
 * not accept. A temperature above Messages' maximum becomes the maximum.
 */
export function fitSampling(
  { temperature, topP, topK }: Pick<CanonicalRequest, 'temperature' | 'topP' | 'topK'>,
  { traits, isThinking }: { traits: ClaudeTraits; isThinking: boolean },
  ignored: string[],
): JsonObject {
  const takesAny = traits.sampling !== 'none';
  const fields: Record<string, number> = {};
  const put = (name: string, value: number | null, isTaken: boolean) => {
    if (value === null) return;
    if (isTaken) fields[name] = value;
    else ignored.push(name);
  };
  const highest = temperature === null ? null : Math.min(temperature, 1);
  put('temperature', highest, takesAny && (!isThinking || highest === 1));
  if (temperature !== highest && fields.temperature !== undefined) ignored.push('temperature');
  const hasRoom = traits.sampling === 'all' || fields.temperature === undefined;
  put('top_p', topP, takesAny && hasRoom && (!isThinking || (topP ?? 0) >= 0.95));
  put('top_k', topK, takesAny && !isThinking);
  return fields;
}
