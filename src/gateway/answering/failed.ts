// Ends a request when no call gave an answer.
import type { ApiError } from '../../canonical/errors.ts';
import { endingOf } from '../audience.ts';
import { isProvoked, spoiledAndCharged } from '../charging/provoked.ts';
import { endSpoiled, lossOf, settle } from '../charging/settle.ts';
import { useSoFar } from '../charging/used.ts';
import type { LastFailed } from './model-calls.ts';
import { shuttingDown } from '../unavailable.ts';
import { cleanVendorError, toApiError, withoutProvider } from '../calling/failure-message.ts';

/**
 * Releases the hold, books what the provider bills as a loss, and returns the error. An answer that
 * was stopped because nobody waited is charged up to that point; its tokens are returned. An answer
 * that the account could spoil is charged beyond its loss budget.
 */
export async function endWithoutAnswer(
  failed: LastFailed,
  firstByteMs: number | null,
): Promise<ApiError | number> {
  const { called, reported } = failed;
  if (wasAbandoned(failed)) {
    const used = useSoFar(called, failed.progress);
    const charge = await settle(called, { used, ending: 'cut-off', firstByteMs }, null);
    return charge?.tokens ?? 0;
  }
  if (failed.failure.isProvoked) {
    const charge = await endSpoiled(called, failed, { ending: endingOf(called), firstByteMs });
    if (charge) return spoiledAndCharged(charge.costMicros);
  } else {
    await called.hold.release(lossOf(called, failed), { isProvoked: isProvoked(called, failed) });
  }
  if (called.gateway.runs.isEnding) return shuttingDown();
  const { format, provider } = called.attempt.route;
  const { vendor, ...plain } = reported;
  return toApiError({
    ...plain,
    message: withoutProvider(reported.message, provider),
    ...(vendor && format === called.format.name && { vendor: cleanVendorError(vendor, provider) }),
  });
}

/**
 * Returns true when the call was stopped because nobody waited any more, after its answer had begun:
 * not by its own failure or the end of the program.
 */
function wasAbandoned({ called: { run, gateway, unseen }, failure }: LastFailed): boolean {
  const wasStopped = run.isAbandoned && !gateway.runs.isEnding && failure.kind === 'connection';
  return wasStopped && unseen.hasBegun;
}
