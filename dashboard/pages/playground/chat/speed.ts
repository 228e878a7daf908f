import type { Progress } from '../../../api/run-chat.ts';

/**
 * Returns output tokens for a second after the first token, or of the whole request if the answer
 * came at once; null when there is nothing to measure.
 */
export function tokensPerSecond({ answer, firstTokenMs, elapsedMs }: Progress): number | null {
  const { outputTokens = 0 } = answer;
  const streamedMs = elapsedMs - (firstTokenMs ?? 0);
  const ms = streamedMs >= 1 ? streamedMs : elapsedMs;
  return outputTokens > 0 && ms > 0 ? Math.round(outputTokens / (ms / 1_000)) : null;
}
