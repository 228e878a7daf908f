// Tokens of one request in disjoint buckets, so that no token is billed twice whatever the wire format counts into what.

import { tokensFromBytes } from '../lib/tokens.ts';

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
};

export const noUsage: Usage = {
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

/** Every input token, cached or not: what usage records and price tiers count. */
export function totalInputTokens(usage: Usage): number {
  return usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens + usage.cacheWrite1hTokens;
}

/**
 * Our own count, where the upstream gives none: the client is shown what it is charged by. `early`: the upstream's count of the input
 * from the start of a stream, which then stands for ours.
 */
export function countUsage(counted: {
  readonly estimatedInputTokens: number;
  readonly outputBytes: number;
  readonly early: Usage | null;
}): Usage {
  const input = counted.early ?? { ...noUsage, inputTokens: counted.estimatedInputTokens };
  return { ...input, outputTokens: tokensFromBytes(counted.outputBytes), reasoningTokens: 0 };
}

/**
 * The upstream's count with its output replaced by ours where it counted none although it wrote something: some hosts give 0 for what they
 * did not count. `outputBytes`: what it wrote.
 */
export function withOutputCounted<Counted extends Usage | null>(usage: Counted, outputBytes: number): Counted {
  if (usage === null || usage.outputTokens > 0 || outputBytes === 0) return usage;
  return { ...usage, outputTokens: tokensFromBytes(outputBytes) };
}

/** A token count from an upstream, which is untrusted input: a whole number from 0 to `max`, else null. */
export function readTokenCount(value: unknown, max = 100_000_000): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max ? value : null;
}
