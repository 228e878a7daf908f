// Tells which failures count against the account's loss budget.
import type { FailedCall } from '../calling/failed-call.ts';
import type { ModelTerms } from './model-call.ts';
import type { HoldRequest } from './worst-case.ts';

/** The speed of a slow model, in tokens a second. */
const slowTokensPerSecond = 25;

/**
 * Returns true when the account could cause the failure: by the model's own output, or by asking
 * for so much of it that writing it takes longer than the answer may take, or costs more than it has.
 */
export function isCausedByAccount(
  { granted }: ModelTerms,
  { failure }: Pick<FailedCall, 'failure'>,
): boolean {
  if (failure.isUnaffordable) return true;
  if (!failure.isOverdue) return failure.isCausedByAccount ?? false;
  return mayOutlast(granted.wanted, granted.maxOutputTokens);
}

/**
 * Returns true when writing so much may take longer than a whole answer may take. A stream is
 * charged for what came.
 */
export function mayOutlast({ request, totalMs }: HoldRequest, maxOutputTokens: number): boolean {
  return !request.stream && maxOutputTokens >= (totalMs / 1_000) * slowTokensPerSecond;
}
