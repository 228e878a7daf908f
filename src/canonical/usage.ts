// Token counts of one request in disjoint buckets. No token is billed twice, whatever the wire
// format counts into what.

import { tokensFromBytes } from '../lib/tokens-from-bytes.ts';

export type Usage = {
  /** Input that was neither read from nor written to the upstream's prompt cache. */
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  /** Written to the cache with the short (five minute) lifetime. */
  readonly cacheWriteTokens: number;
  /** Written to the cache with the one hour lifetime. */
  readonly cacheWrite1hTokens: number;
  /** All output, reasoning included. */
  readonly outputTokens: number;
  /** The part of `outputTokens` that was reasoning; informational, never added again. */
  readonly reasoningTokens: number;
  /** The part of `inputTokens` that is sound, which may have a price of its own. Left out: none. */
  readonly audioTokens?: number | undefined;
  /** The part of `cacheReadTokens` that is sound. Left out: none. */
  readonly cacheReadAudioTokens?: number | undefined;
  /** Tokens that a host's counts contradict each other by, and nobody is charged for. */
  readonly unexplainedTokens?: number | undefined;
  /** The service tier that the answer names (service-tier.ts). Left out: none. */
  readonly tier?: string | undefined;
};

export const noUsage: Omit<Usage, 'tier'> = {
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

/** All input tokens, cached or not: what usage records show and price tiers count. */
export function totalInputTokens(usage: Usage): number {
  return (
    usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens + usage.cacheWrite1hTokens
  );
}

/** All input tokens of sound, cached or not. */
export function totalAudioTokens({ audioTokens = 0, cacheReadAudioTokens = 0 }: Usage): number {
  return audioTokens + cacheReadAudioTokens;
}

/** The most tokens that a call can use. */
export type UsageMax = {
  readonly inputTokens: number;
  /** The part of the input that can be sound. Left out: all. */
  readonly audioTokens?: number;
  readonly outputTokens: number;
};

/** Our own count of input and output, used when the upstream has counted none. */
type OwnCount = {
  readonly estimatedInputTokens: number;
  /** The sound in it. Left out: none. */
  readonly estimatedAudioTokens?: number;
  readonly outputBytes: number;
  readonly usageMax?: UsageMax | undefined;
};

/**
 * Returns the usage to charge and to show: the provider's count with its gaps filled, at most
 * `usageMax`. null: it sent no count.
 */
export function countUsage(reported: Usage | null, own: OwnCount): Usage {
  const counted = fillGaps(reported, own);
  return own.usageMax ? limitUsage(counted, own.usageMax) : counted;
}

/**
 * A missing or zero input, sound in it or output is replaced by our own count. A count of zeros alone
 * stays: the provider used nothing.
 */
function fillGaps(
  reported: Usage | null,
  { estimatedInputTokens, estimatedAudioTokens = 0, outputBytes }: OwnCount,
): Usage {
  const counted = reported ?? noUsage;
  const hasInput = totalInputTokens(counted) > 0;
  const hasOutput = counted.outputTokens > 0;
  const isNothing = reported !== null && !hasInput && !hasOutput;
  const lacksSound = estimatedAudioTokens > 0 && totalAudioTokens(counted) === 0;
  if (isNothing || (hasInput && !lacksSound && (hasOutput || outputBytes === 0))) return counted;
  const inputTokens = hasInput ? counted.inputTokens : estimatedInputTokens;
  return {
    ...counted,
    inputTokens,
    ...(lacksSound && { audioTokens: Math.min(estimatedAudioTokens, inputTokens) }),
    outputTokens: hasOutput ? counted.outputTokens : tokensFromBytes(outputBytes),
  };
}

/** True when a count is beyond what the request can have caused. */
export function exceeds(
  usage: Usage,
  { inputTokens, audioTokens = Infinity, outputTokens }: UsageMax,
) {
  return (
    totalInputTokens(usage) > inputTokens ||
    totalAudioTokens(usage) > audioTokens ||
    usage.outputTokens > outputTokens
  );
}

function limitUsage(usage: Usage, max: UsageMax): Usage {
  if (!exceeds(usage, max)) return usage;
  let room = max.inputTokens;
  const take = (tokens: number) => {
    const taken = Math.min(tokens, room);
    room -= taken;
    return taken;
  };
  const outputTokens = Math.min(usage.outputTokens, max.outputTokens);
  const inputTokens = take(usage.inputTokens);
  const cacheReadTokens = take(usage.cacheReadTokens);
  const { audioTokens: soundMax = Infinity } = max;
  const audioTokens = Math.min(usage.audioTokens ?? 0, inputTokens, soundMax);
  const cacheReadAudioTokens = Math.min(
    usage.cacheReadAudioTokens ?? 0,
    cacheReadTokens,
    soundMax - audioTokens,
  );
  return {
    ...(usage.tier !== undefined && { tier: usage.tier }),
    inputTokens,
    cacheReadTokens,
    cacheWriteTokens: take(usage.cacheWriteTokens),
    cacheWrite1hTokens: take(usage.cacheWrite1hTokens),
    outputTokens,
    reasoningTokens: Math.min(usage.reasoningTokens, outputTokens),
    ...(totalAudioTokens(usage) > 0 && { audioTokens, cacheReadAudioTokens }),
  };
}

/**
 * Merges two counts of one answer: the later one wins. Input or output that it lacks comes from the
 * earlier one.
 */
export function mergeUsage(earlier: Usage | null, later: Usage | null): Usage | null {
  if (!earlier || !later) return later ?? earlier;
  const { outputTokens, reasoningTokens } = later.outputTokens > 0 ? later : earlier;
  const tier = later.tier ?? earlier.tier;
  const input = totalInputTokens(later) > 0 ? later : earlier;
  return { ...input, outputTokens, reasoningTokens, ...(tier !== undefined && { tier }) };
}

/** Returns null when nothing is counted. */
export function unlessEmpty(usage: Usage): Usage | null {
  return totalInputTokens(usage) > 0 || usage.outputTokens > 0 ? usage : null;
}

/** Reads a token count of an upstream. Untrusted: returns a whole number up to 1e8, else null. */
export function readTokenCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 100_000_000
    ? value
    : null;
}

/** Returns null unless both are counts. */
export function readTokenCounts(input: unknown, output: unknown): TokenCounts | null {
  const [inputTokens, outputTokens] = [readTokenCount(input), readTokenCount(output)];
  return inputTokens === null || outputTokens === null ? null : { inputTokens, outputTokens };
}

export type TokenCounts = Pick<Usage, 'inputTokens' | 'outputTokens'>;
