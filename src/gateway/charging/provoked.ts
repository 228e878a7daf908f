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
  if (!failure.isOverdue) return failure.isProvoked ?? false;
  const { attempt, model, request, granted } = called;
  const { timeouts } = attempt.route.provider;
  const { total_ms: totalMs } = timeoutsFor(timeouts, { model, stream: request.stream });
  return granted.maxOutputTokens >= (totalMs / 1_000) * slowTokensPerSecond;
}
