// Charges a model's call that gave an answer, and computes the operator's loss when it gave none.
import { totalInputTokens } from '../../canonical/usage.ts';
import type { StoredResponse } from '../../canonical/stored-response.ts';
import { priceUsage } from '../../domain/catalog/price.ts';
import type { ChargeRecord } from '../../domain/ledger/commands.ts';
import { micros, zeroMicros, type Micros } from '../../lib/money.ts';
import type { CallFailed } from '../calling/call.ts';
import { elapsedMs, type Called } from '../stages.ts';
import type { Charge } from './open-hold.ts';
import { finalUse, useSoFar, type Used } from './used.ts';

export type Ended = {
  readonly used: Used;
  readonly ending: 'complete' | 'cut-off';
  /** The answer ends early because nothing more could be held. */
  readonly isLimited?: boolean;
  /**
   * Milliseconds from the request's arrival to the first piece of a stream; null: none came, or the
   * answer came whole.
   */
  readonly firstByteMs: number | null;
};

/**
 * Charges what was used and stores `response` with the charge. Returns null and throws as
 * `OpenHold.charge` does.
 */
export async function settle(
  called: Called,
  ended: Ended,
  response: StoredResponse | null,
): Promise<(Charge & { readonly tokens: number }) | null> {
  const { hold, granted, storage, log, attempt, plan, span } = called;
  const { usage, searches } = ended.used;
  if (span) span.usage = usage;
  const priced = priceUsage(attempt.price, usage, searches);
  await bookClaim(called, ended.used, priced);
  // The cache key names the primary route, and a fallback may have left out more of the request.
  const isFallback = plan.beginsWithFallback || attempt.route !== plan.first.route;
  const isWhole =
    ended.ending === 'complete' && !ended.isLimited && !granted.isReduced && !isFallback;
  const tokens = { inputTokens: totalInputTokens(usage), outputTokens: usage.outputTokens };
  log.note(tokens);
  const charge = await hold.charge(
    { ...priced, record: recordOf(called, ended, priced), response, isWhole },
    storage,
  );
  if (!charge) return null;
  return { ...charge, tokens: tokens.inputTokens + tokens.outputTokens };
}

/** Books what the provider claims beyond what the request could cause: no account is to blame. */
async function bookClaim(
  { hold, attempt, number }: Called,
  { claimed, searches }: Used,
  { upstreamCostMicros }: Priced,
): Promise<void> {
  if (!claimed) return;
  const claimedMicros = priceUsage(attempt.price, claimed, searches).upstreamCostMicros;
  await hold.bookLossBeside(micros(claimedMicros - upstreamCostMicros), { callNumber: number });
}

/**
 * Ends the hold of a call whose answer cannot be passed on, as the account could cause. Returns the
 * charge; null: it is free, because the loss budget has room or nothing shows that the model ran.
 */
export async function endSpoiled(
  called: Called,
  failed: Failed,
  ending: Pick<Ended, 'ending' | 'firstByteMs'>,
): Promise<Charge | null> {
  const { hold, attempt, storage } = called;
  if (lossOf(called, failed) === 0) {
    await hold.release(zeroMicros);
    return null;
  }
  const used = failedUse(called, failed);
  const priced = priceUsage(attempt.price, used.usage, used.searches);
  const record = recordOf(called, { used, ...ending }, priced);
  const charge = await hold.endSpoiled({ ...priced, record }, storage);
  await bookClaim(called, used, priced);
  return charge;
}

/** A failed call, and what had arrived of its answer. */
type Failed = Pick<CallFailed, 'failure' | 'requestSent' | 'hasStreamed' | 'isWhole' | 'progress'>;

/**
 * Returns what the provider bills for a failed call: by its final count, else by the use so far.
 * Returns 0 when the call has probably not run.
 */
export function lossOf(called: Called, failed: Failed): Micros {
  const { failure, progress, hasStreamed = false } = failed;
  const { usage: reported, output, searches: searchesSoFar = 0 } = progress;
  const hasWritten =
    reported !== null ||
    output.bytes + searchesSoFar > 0 ||
    (hasStreamed && called.unseen.tokens > 0);
  const hasRun = hasWritten || failure.isBilled || isBilledWithoutAnswer(called, failed);
  if (!hasRun) return zeroMicros;
  const { usage, claimed, searches } = failedUse(called, failed);
  return priceUsage(called.attempt.price, claimed ?? usage, searches).upstreamCostMicros;
}

function failedUse(called: Called, { progress, isWhole = false }: Failed): Used {
  return isWhole || progress.isComplete
    ? finalUse(called, { ...progress, outputBytes: progress.output.bytes })
    : useSoFar(called, progress);
}

/**
 * Returns true when the provider is likely to bill a call without a visible answer: it timed out,
 * its answer broke off, or we stopped it. It does not bill a refusal by status, a proxy's error
 * page, or a failed connection.
 */
function isBilledWithoutAnswer(
  { run, attempt }: Called,
  { failure, requestSent }: Failed,
): boolean {
  if (!requestSent || attempt.route.isPlayed) return false;
  if (failure.kind === 'connection') return run.waiting.aborted;
  return failure.kind === 'timeout' || failure.kind === 'broken-stream';
}

type Priced = Pick<ChargeRecord, 'upstreamCostMicros' | 'priceVersion'>;

function recordOf(
  called: Called,
  { used, ending, firstByteMs }: Ended,
  priced: Priced,
): ChargeRecord {
  const { model, format, attempt, number, request } = called;
  return {
    modelId: model.id,
    modelName: model.displayName,
    endpoint: format.name,
    provider: attempt.route.name.provider,
    usage: used.usage,
    webSearches: used.searches,
    images: 0,
    usageSource: used.source,
    priceVersion: priced.priceVersion,
    upstreamCostMicros: priced.upstreamCostMicros,
    ending,
    streamed: request.stream,
    attempts: number,
    durationMs: elapsedMs(called),
    firstByteMs,
  };
}
