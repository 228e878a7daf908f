// Ends a request when no call gave an answer.
import type { ApiError } from '../../canonical/errors.ts';
import { lossOf, settle } from '../charging/settle.ts';
import { useSoFar } from '../charging/used.ts';
import { timeoutsFor } from '../calling/timeouts.ts';
import type { Called } from '../stages.ts';
import type { LastFailed } from './try-routes.ts';
import { shuttingDown } from '../unavailable.ts';
import { toApiError, withoutProvider } from './failure-message.ts';

/**
 * Releases the hold, books what the provider bills as a loss, and returns the error. An answer that
 * was stopped because nobody waited is charged up to that point; its tokens are returned.
 */
export async function endWithoutAnswer(
  failed: LastFailed,
  firstByteMs: number | null,
): Promise<ApiError | number> {
  const { called, reported } = failed;
  if (wasAbandoned(failed)) {
    // The provider has read the input by then, and was generating output that nobody saw.
    const used = useSoFar(called, failed.progress);
    const charge = await settle(called, { used, ending: 'cut-off', firstByteMs }, null);
    return charge?.tokens ?? 0;
  }
  await called.hold.release(lossOf(called, failed), { isProvoked: isProvoked(failed) });
  if (called.gateway.runs.isEnding) return shuttingDown();
  return toApiError({
    ...reported,
    message: withoutProvider(reported.message, called.attempt.route.provider),
  });
}

/** The speed of a slow model, in tokens a second. */
const slowTokensPerSecond = 25;

/**
 * Returns true when the account could cause the failure: by the model's own output, or by asking
 * for so much of it that writing it takes longer than the answer may take.
 */
function isProvoked({ called, failure }: LastFailed): boolean {
  if (!failure.isOverdue) return failure.isProvoked ?? false;
  const { granted, ...call } = called;
  return granted.maxOutputTokens >= (totalMsOf(call) / 1_000) * slowTokensPerSecond;
}

function totalMsOf({ attempt, model, request }: Omit<Called, 'granted'>): number {
  const { timeouts } = attempt.route.provider;
  return timeoutsFor(timeouts, { model, stream: request.stream }).total_ms;
}

/**
 * Returns true when the call was stopped because nobody waited any more, not by its own failure or
 * the end of the program.
 */
function wasAbandoned({ called: { run, gateway }, requestSent, failure }: LastFailed): boolean {
  return run.isAbandoned && !gateway.runs.isEnding && requestSent && failure.kind !== 'status';
}
