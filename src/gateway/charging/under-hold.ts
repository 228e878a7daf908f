// Holds what a request may cost, runs it under its hold, and ends the hold as the run ended: with a
// charge, or with what the failure costs the operator.
import { ApiError } from '../../canonical/errors.ts';
import { totalInputTokens } from '../../canonical/usage.ts';
import { formatUsd, zeroMicros, type Micros } from '../../lib/money.ts';
import type { Mode } from '../../terms/mode.ts';
import type { ActiveRuns } from '../active-runs.ts';
import { explainDatabaseOutage, shuttingDown, takenOver } from '../unavailable.ts';
import type { Running, Offer, Outcome } from './offer.ts';
import { type Books, OpenHold, type Charge, type Payer, reserve } from './open-hold.ts';

type Placed = { readonly hold: OpenHold; readonly offer: Offer };

/** Holds the offer, or the largest smaller one that fits. Throws ApiError 402, 403 or 429. */
export async function placeHold(books: Books, payer: Payer, first: Offer): Promise<Placed> {
  for (let offer = first; ;) {
    const hold = await reserve(books, payer, offer);
    if (hold instanceof OpenHold) return { hold, offer };
    const smaller = offer.smaller(hold.affordableMicros);
    if (!smaller) throw offer.refuse(hold);
    offer = smaller;
  }
}

type ToRun = Placed & Pick<Running, 'client' | 'storage'> & { readonly mode: Mode };

/**
 * Runs an action under a hold. However it ends, the run is closed, and a hold that an unexpected
 * error left open is released.
 */
export async function whileHeld<T>(
  runs: ActiveRuns,
  { hold, offer, client, storage, mode }: ToRun,
  action: (held: Running) => Promise<T>,
): Promise<T> {
  const run = runs.open(mode);
  const held = { hold, run, client, storage };
  if (!offer.runsToEnd) run.watch(held);
  try {
    return await action(held);
  } catch (error) {
    // Every expected end has already ended the hold.
    if (!hold.hasEnded) await hold.release(zeroMicros);
    throw error;
  } finally {
    run.close();
  }
}

/** An answer whose charge is durable. */
type Settled = {
  /** Those charged, for the limit of tokens a minute. */
  readonly tokens: number;
  /** Sends the answer, or its end. */
  readonly deliver: () => void;
};

/**
 * Charges what was sold, and stores its answer with the charge. Throws the ApiError to answer with;
 * returns null when it ended a stream that had begun.
 */
export async function endHold(
  held: Running,
  outcome: Outcome,
  runs: Pick<ActiveRuns, 'isEnding'>,
): Promise<Settled | null> {
  try {
    for (const loss of outcome.losses) await held.hold.bookLossBeside(loss);
    if (outcome.kind === 'failed') throw await endFailed(held, outcome, runs);
    const { deliver, bill } = outcome;
    const charge = await chargeSold(held, outcome);
    const { usage } = bill.record;
    const tokens = totalInputTokens(usage) + usage.outputTokens;
    return { tokens, deliver: () => deliver(charge) };
  } catch (thrown) {
    const error = explainDatabaseOutage(thrown);
    if (!outcome.fail || !(error instanceof ApiError)) throw thrown;
    outcome.fail(error);
    return null;
  }
}

async function chargeSold(
  { hold, storage }: Running,
  { bill, response, isWhole, spoiled }: Extract<Outcome, { kind: 'sold' }>,
): Promise<Charge> {
  const answer = { response, isWhole, storage };
  const charge = spoiled
    ? await hold.withinLossBudget(async (isWithin) => {
        if (isWithin) await hold.bookLossBeside(spoiled.loss);
        return hold.charge(isWithin ? bill : spoiled.bill, answer);
      })
    : await hold.charge(bill, answer);
  if (!charge) throw takenOver();
  return charge;
}

/** Returns the error to answer with. */
async function endFailed(
  { hold, run, storage }: Running,
  { error, lossMicros, isCausedByAccount, spoiled }: Extract<Outcome, { kind: 'failed' }>,
  { isEnding }: Pick<ActiveRuns, 'isEnding'>,
): Promise<ApiError> {
  let charge: Charge | null = null;
  if (!spoiled) await hold.release(lossMicros, { isCausedByAccount });
  else
    charge = await hold.withinLossBudget(async (isWithin) => {
      if (!isWithin) return hold.charge(spoiled, { response: null, isWhole: false, storage });
      await hold.release(spoiled.record.upstreamCostMicros, { isCausedByAccount: true });
      return null;
    });
  if (charge) return spoiledAndCharged(charge.costMicros);
  return isEnding ? shuttingDown() : (run.stoppedBy ?? error);
}

/** The error of an answer that is charged though it cannot be passed on. */
function spoiledAndCharged(costMicros: Micros): ApiError {
  return new ApiError(
    'upstream_error',
    `The model gave an answer that cannot be read. It was charged ($${formatUsd(costMicros)}), because such answers have used up this account's loss budget.`,
    { details: { charged_micros: costMicros } },
  );
}
