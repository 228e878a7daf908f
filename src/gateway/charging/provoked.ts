// Tells which failures count against the account's loss budget.
import type { CallFailed } from '../calling/call.ts';
import { timeoutsFor } from '../calling/timeouts.ts';
import type { Called } from '../stages.ts';

/** The speed of a slow model, in tokens a second. */
const slowTokensPerSecond = 25;

/**
 * Returns true when the account could cause the failure: by the model's own output, or by asking
 * for so much of it that writing it takes longer than the answer may take.
 */
export function isProvoked(called: Called, { failure }: Pick<CallFailed, 'failure'>): boolean {
  const mayBeTooLong = failure.isOverdue || (failure.kind === 'timeout' && !called.request.stream);
  if (!mayBeTooLong) return failure.isProvoked ?? false;
  return called.granted.maxOutputTokens >= (answerMsMax(called) / 1_000) * slowTokensPerSecond;
}

/** Returns how long a model may write. A whole answer is silent until its end. */
function answerMsMax({ attempt, model, request: { stream } }: Called): number {
  const timeouts = timeoutsFor(attempt.route.provider.timeouts, { model, stream });
  const { first_byte_ms: firstByteMs, idle_ms: idleMs, total_ms: totalMs } = timeouts;
  return stream ? totalMs : Math.min(Math.max(firstByteMs, idleMs), totalMs);
}
