// The outcome of a request when no call gave an answer.
import type { ApiError } from '../../canonical/errors.ts';
import { endingOf } from '../audience.ts';
import { toModelError, withoutSecrets } from '../calling/failure-message.ts';
import { billOf, failedUse, feeFor, lossOf, soldBy } from '../charging/model-bill.ts';
import type { Outcome } from '../charging/offer.ts';
import { useSoFar } from '../charging/used.ts';
import type { LastFailedCall } from './model-calls.ts';

/**
 * What the provider bills for a failure is the operator's loss. An answer that was stopped because
 * nobody waited is charged up to that point. An answer that the account could spoil is charged when the
 * account's loss budget is used up.
 */
export function outcomeOfFailure(failed: LastFailedCall, firstByteMs: number | null): Outcome {
  const { called } = failed;
  if (wasAbandoned(failed)) {
    const used = useSoFar(called, failed.progress);
    const sold = soldBy(called, { used, ending: 'cut-off', firstByteMs });
    // The client has left, so nothing is sent.
    const nobody = () => {};
    return { ...sold, response: null, deliver: nobody, fail: nobody };
  }
  const ended = { kind: 'failed', error: errorOf(failed), ...lossOf(called, failed) } as const;
  // It is free when nothing shows that the model ran.
  if (!failed.failure.isCausedByAccount || ended.lossMicros === 0) return { ...ended, losses: [] };
  const used = failedUse(called, failed);
  const { bill, losses } = billOf(called, { used, ending: endingOf(called.running), firstByteMs });
  const lossMicros = feeFor(called, failed);
  // Losses of the call's searches and images have the numbers above this one.
  const fee = { lossMicros, callNumber: 1_000 * called.call.number, isCausedByAccount: true };
  return { ...ended, losses: lossMicros > 0 ? [...losses, fee] : losses, spoiled: bill };
}

function errorOf({ called, reported }: LastFailedCall): ApiError {
  const { format, provider } = called.call.attempt.route;
  const { vendor, ...plain } = reported;
  const isSpoken = vendor && format === called.asked.format.name;
  const failure = withoutSecrets(isSpoken ? reported : plain, provider);
  return toModelError(failure, called.asked.model, called.gateway.clock.nowMs());
}

/**
 * Returns true when the call was stopped because nobody waited any more, after its answer had begun:
 * not by its own failure or the end of the program.
 */
function wasAbandoned({ called, failure }: LastFailedCall): boolean {
  const { gateway, running, call } = called;
  const { run } = running;
  const wasStopped = run.isAbandoned && !gateway.runs.isEnding && failure.kind === 'connection';
  return wasStopped && call.unseen.hasBegun;
}
