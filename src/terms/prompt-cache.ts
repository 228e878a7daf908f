// What vendors promise of their prompt caches, by the upstream's id of a model. The catalogue has no
// fields for it.

/** Who marked a prompt. `none`: nobody, so its vendor kept nothing. */
export type CacheMarks = 'client' | 'gateway' | 'none';

/**
 * Why input was not read, the first that applies. `first-turn`: nothing was there to read.
 * `below-minimum`: the prompt before was too short to be kept. `unmarked`: nothing, or not all of
 * it, was marked. `other-route`: another provider had it. `expired`. `changed`: the prompt does not
 * begin as the one before, or its provider dropped that early.
 */
export const missReasons = [
  'first-turn',
  'below-minimum',
  'unmarked',
  'other-route',
  'expired',
  'changed',
] as const;
export type MissReason = (typeof missReasons)[number];

type PromptCache = {
  /** The shortest prompt that is kept. */
  readonly tokensMin: number;
  /** How long a prompt is kept after its last use, at least, unless a longer time is bought. */
  readonly keptMs: number;
};

const minuteMs = 60_000;

/** Counts and reads are rounded: OpenAI reads steps of 128 tokens. */
export const cacheStepTokens = 128;

/** Example: `promptCacheOf('claude-haiku-4-5')`: from 4,096 tokens on, for five minutes. */
export function promptCacheOf(upstreamModel: string): PromptCache {
  if (upstreamModel.includes('claude'))
    return { tokensMin: claudeTokensMin(upstreamModel), keptMs: 5 * minuteMs };
  const other = others.find(([name]) => name.test(upstreamModel));
  return { tokensMin: other?.[1] ?? 1_024, keptMs: (other?.[2] ?? 5) * minuteMs };
}

/**
 * OpenAI's guide and SDK 7.59; Gemini's and DeepSeek's minimums from their guides, read 2026-11-27.
 * Google names no lifetime, and DeepSeek "hours".
 */
const others: readonly (readonly [model: RegExp, tokensMin: number, minutes: number])[] = [
  [/gpt-(?:5\.[6-9]|[6-9])/, 1_024, 30],
  [/gemini-2\.5/, 2_048, 5],
  [/gemini-[3-9]/, 4_096, 5],
  [/deepseek/, 64, 60],
];

/**
 * From platform.claude.com/docs/en/build-with-claude/prompt-caching, read 2026-11-27. A shorter
 * prompt is answered as if it had no mark.
 */
function claudeTokensMin(upstreamModel: string): number {
  const { family, version } = readClaudeId(upstreamModel);
  if (version >= 500) return family === 'sonnet' && version < 505 ? 1_024 : 512;
  if (version === 407) return 2_048;
  return (version === 405 || version === 406) && family !== 'sonnet' ? 4_096 : 1_024;
}

/**
 * Examples: `claude-haiku-4-5-20251001` → haiku, 405; `claude-3-7-sonnet-latest` → 307. A preview
 * without a number is newer than all numbered ones.
 */
export function readClaudeId(id: string): { readonly family: string; readonly version: number } {
  const match = /claude-(?:([a-z]+)-)?(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?/.exec(id);
  if (!match) return { family: '', version: Number.POSITIVE_INFINITY };
  return { family: match[1] ?? '', version: Number(match[2]) * 100 + Number(match[3] ?? 0) };
}
