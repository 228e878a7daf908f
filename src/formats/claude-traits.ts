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
  /** It thinks unless it is told not to. */
  readonly thinksUnasked: boolean;
  /** The `type` that tells it not to think, or hardly; null: there is none. */
  readonly offWord: 'disabled' | 'between_tools' | null;
  /** False when it refuses a forced call. */
  readonly forcesCalls: boolean;
  /** `all`: temperature and top_p together. `one`: either of them. `none`: neither, nor top_k. */
  readonly sampling: 'all' | 'one' | 'none';
  /**
   * True when the conversation may hold `role: system`:
   * github.com/langchain-ai/langchainjs/releases/tag/@langchain%2Fanthropic@1.5.13 (read 2026-11-30).
   * Reports of Sonnet 5 contradict each other, and a name without a number says nothing.
   */
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
  thinksUnasked: false,
  offWord: 'disabled',
  forcesCalls: true,
  sampling: 'all',
  systemMessages: false,
  xhighEffort: false,
  unsignedThinking: true,
  cachedTokensMin: null,
};

/** Kimi takes efforts, too: github.com/NousResearch/hermes-agent/pull/67606 (read 2026-11-30). */
const kimiTraits: ClaudeTraits = { ...foreignTraits, thinking: 'both', xhighEffort: true };

/**
 * It always thinks, as much as it can where no effort is said, and ignores `disabled` and budgets:
 * platform.minimax.io/docs/guides/text-generation, and dev.to and qiita.com by aihubmix on M3.1 Flash
 * (read 2026-11-30).
 */
const minimaxTraits: ClaudeTraits = {
  ...foreignTraits,
  thinking: 'adaptive',
  thinksUnasked: true,
  offWord: null,
  xhighEffort: true,
};

const otherTraits: readonly (readonly [RegExp, ClaudeTraits])[] = [
  [/kimi/i, kimiTraits],
  [/minimax-m3\.[1-9]/i, minimaxTraits],
];

/**
 * Example: `claudeTraits('claude-haiku-4-5-20251001')`: budgets, temperature or top_p, no system
 * messages in the conversation.
 */
export function claudeTraits(upstreamModel: string): ClaudeTraits {
  if (!upstreamModel.includes('claude'))
    return otherTraits.find(([pattern]) => pattern.test(upstreamModel))?.[1] ?? foreignTraits;
  const { family, version } = readClaudeId(upstreamModel);
  const offWord = offWordOf(family, version);
  return {
    thinking: version <= 405 ? 'budget' : version === 406 ? 'both' : 'adaptive',
    thinksUnasked: version >= 500,
    offWord,
    forcesCalls: version < 500 || offWord === 'disabled',
    sampling: version < 401 ? 'all' : version <= 406 ? 'one' : 'none',
    systemMessages:
      Number.isFinite(version) && version >= ({ opus: 408, sonnet: 505 }[family] ?? 500),
    xhighEffort: version >= 407,
    unsignedThinking: false,
    cachedTokensMin: promptCacheOf(upstreamModel).tokensMin,
  };
}

/**
 * Since Claude 5, models think unasked. Opus 5.5, Fable and Mythos always do, and 4.7 and 4.8 need no word:
 * platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5, and of Sonnet 5.5;
 * docs.apiyi.com/en/live/2026-11/claude-thinking-guide-refresh (read 2026-11-30).
 */
function offWordOf(family: string, version: number): ClaudeTraits['offWord'] {
  if (version <= 406 || (version >= 500 && family === 'haiku')) return 'disabled';
  if (version < 500 || (family !== 'opus' && family !== 'sonnet')) return null;
  if (version < 505) return 'disabled';
  return family === 'sonnet' ? 'between_tools' : null;
}

/**
 * Returns the request without a forced call where the model refuses it: of several tools, the demanded
 * one alone is offered.
 */
export function withoutForcing(request: CanonicalRequest, traits: ClaudeTraits): CanonicalRequest {
  const { tools, toolChoice: choice } = request;
  if (traits.forcesCalls || (choice?.type !== 'required' && choice?.type !== 'tool'))
    return request;
  const demanded =
    choice.type === 'tool' ? tools.filter(({ name }) => name === choice.name) : tools;
  if (demanded.length === 0) return request;
  return { ...request, tools: demanded, toolChoice: { type: 'auto' } };
}

/**
 * Returns the sampling fields of a request. Adds to `ignored` what the model, or its thinking, does
 * not accept. A temperature above Messages' maximum becomes the maximum.
 */
export function fitSampling(
  { temperature, topP, topK }: Pick<CanonicalRequest, 'temperature' | 'topP' | 'topK'>,
  { traits, isThinking }: { traits: ClaudeTraits; isThinking: boolean },
  ignored: Set<string>,
): JsonObject {
  const takesAny = traits.sampling !== 'none';
  const fields: Record<string, number> = {};
  const put = (name: string, value: number | null, isTaken: boolean) => {
    if (value === null) return;
    if (isTaken) fields[name] = value;
    else ignored.add(name);
  };
  const highest = temperature === null ? null : Math.min(temperature, 1);
  put('temperature', highest, takesAny && (!isThinking || highest === 1));
  if (temperature !== highest && fields.temperature !== undefined) ignored.add('temperature');
  const hasRoom = traits.sampling === 'all' || fields.temperature === undefined;
  put('top_p', topP, takesAny && hasRoom && (!isThinking || (topP ?? 0) >= 0.95));
  put('top_k', topK, takesAny && !isThinking);
  return fields;
}
