// The end of a hold: a charge or a release. A charge is durable before the client is told of success.
import { LedgerUnavailable } from '../ledger/batcher.ts';
import type { ChargeRecord, Outcome, Settle } from '../ledger/commands.ts';
import { ledgerIdOf } from '../ledger/commands.ts';
import type { Clock } from '../lib/clock.ts';
import { keepPrice, type PriceTerms } from '../canonical/price-terms.ts';
import { totalInputTokens } from '../canonical/usage.ts';
import { priceUsage } from '../catalog/price.ts';
import { type StoredResponse, worthOf } from '../canonical/stored-response.ts';
import type { Micros } from '../lib/money.ts';
import { floorToCents, zeroMicros } from '../lib/money.ts';
import { elapsedMs, type RequestTrace } from './gateway.ts';
import { providerNameOf } from './route.ts';
import type { CallFailed } from './call.ts';
import type { Running } from './running.ts';
import { finalUse, useSoFar, type Used } from './used.ts';

export type Ended = {
  readonly used: Used;
  readonly ending: 'complete' | 'cut-off';
  /** Nothing more could be held, and so the answer ends early. */
  readonly isLimited?: boolean;
};

export type Charge = { readonly costMicros: Micros; readonly balanceCents: number };

/**
 * Charges what was used, and stores `response` with the charge. null: another request has taken over the Idempotency-Key, and nothing was
 * charged. Throws when the ledger cannot be written. Either way the client must not be told of success.
 */
export async function settleHold(running: Running, ended: Ended, response: StoredResponse | null = null): Promise<Charge | null> {
  const { hold, trace, attempt, plan } = running;
  const { usage, searches } = ended.used;
  const priced = priceUsage(attempt.price, usage, searches);
  // The cache knows an answer by the route that was to serve it: a fallback may have left out more of the request.
  const isFallback = attempt.route !== plan.first.route;
  const isWhole = ended.ending === 'complete' && !ended.isLimited && !hold.isReduced && !isFallback;
  const record = recordOf(running, ended, priced);
  const charge = await chargeHold(running, { ...priced, record, response, isWhole });
  if (charge) {
    const inputTokens = totalInputTokens(usage);
    Object.assign(trace, { inputTokens, outputTokens: usage.outputTokens, ...(searches > 0 && { searches }) });
  }
  return charge;
}

/** What a hold belongs to, whatever was sold. */
export type Charging = Pick<Running, 'gateway' | 'key' | 'trace' | 'keeping' | 'isResolved'> & {
  readonly hold: { readonly id: string };
};

export type ToCharge = {
  readonly costMicros: Micros;
  readonly upstreamCostMicros: Micros;
  readonly terms: PriceTerms;
  readonly record: ChargeRecord;
  /** null: nothing is kept of it. */
  readonly response: StoredResponse | null;
  /** Nothing of ours has cut the answer short. */
  readonly isWhole: boolean;
};

/** As `settleHold`, of anything that has a price. */
export async function chargeHold(charging: Charging, sold: ToCharge): Promise<Charge | null> {
  const { key, hold, trace, keeping } = charging;
  const { costMicros, upstreamCostMicros, terms, record, response, isWhole } = sold;
  const sealed = response && (await keeping.seal(response, { isWhole }));
  const outcome = await submitSettlement(charging, {
    type: 'settle',
    holdId: hold.id,
    ledgerId: ledgerIdOf(key.accountId, key.mode),
    keyId: key.id,
    costMicros,
    price: keepPrice(terms),
    record,
    ...sealed,
  });
  if (outcome.type === 'superseded') return noteFree(charging, upstreamCostMicros);
  if (outcome.type !== 'charged') throw new Error(`the ledger answered a settlement with ${outcome.type}`);
  if (response) keeping.noteStored({ ...response, worth: worthOf({ costMicros: outcome.chargedMicros, usage: record.usage }) });
  if (outcome.lossMicros > 0) charging.gateway.standings.noteLoss(key);
  Object.assign(trace, {
    costMicros: outcome.chargedMicros,
    upstreamCostMicros,
    lossMicros: (trace.lossMicros ?? 0) + outcome.lossMicros,
    ending: record.ending,
  });
  return { costMicros: outcome.chargedMicros, balanceCents: floorToCents(outcome.availableMicros) };
}

/** A settlement that is given up is the ledger's to undo: it gives the hold back and books the loss as soon as it can. */
async function submitSettlement(charging: Charging, settle: Settle): Promise<Outcome> {
  try {
    const outcome = await charging.gateway.ledger.submit(settle);
    charging.isResolved = true;
    return outcome;
  } catch (error) {
    if (error instanceof LedgerUnavailable) {
      charging.isResolved = true;
      noteFree(charging, settle.record.upstreamCostMicros);
    }
    throw error;
  }
}

function noteFree({ trace }: Charging, lossMicros: Micros): null {
  Object.assign(trace, { ending: 'failed', lossMicros });
  return null;
}

/** What a charge is kept with of the request's course. */
export function timesOf(trace: RequestTrace, clock: Clock): Pick<ChargeRecord, 'attempts' | 'durationMs' | 'firstByteMs'> {
  return { attempts: trace.attempts ?? 1, durationMs: elapsedMs(trace, clock), firstByteMs: trace.firstByteMs ?? null };
}

/** A call that has failed, and what had come of its answer by then. */
type Failed = Pick<CallFailed, 'failure' | 'requestSent' | 'hasStreamed' | 'isWhole' | 'progress'>;

/** Gives the hold back. `failed`: the last call, which the provider may bill; null: there was none. */
export async function releaseHold(running: Running, failed: Failed | null): Promise<void> {
  await giveBack(running, failed ? lossOf(running, failed) : zeroMicros, { isProvoked: failed?.failure.isProvoked });
}

/** As `releaseHold`, of anything that has a price. */
export async function giveBack(
  charging: Charging,
  lossMicros: Micros,
  { isProvoked = false }: { readonly isProvoked?: boolean | undefined } = {},
): Promise<void> {
  const { gateway, key, hold, trace } = charging;
  trace.ending ??= 'failed';
  const release = { type: 'release', holdId: hold.id, lossMicros, ...(isProvoked && { isProvoked }) } as const;
  const outcome = await gateway.ledger.submit(release);
  charging.isResolved = true;
  if (outcome.type === 'released') addLoss(charging, lossMicros);
  if (isProvoked) gateway.standings.noteLoss(key);
}

/** Books what the provider bills for a call that failed and whose place another takes. */
export async function bookLoss(running: Running, failed: Failed): Promise<void> {
  await bookLossBeside(running, lossOf(running, failed));
}

/** Books a loss while the request's own hold goes on, under a hold of nothing: once for each attempt. */
export async function bookLossBeside(charging: Charging, lossMicros: Micros): Promise<void> {
  if (lossMicros === 0) return;
  const { gateway, key, hold, trace } = charging;
  const holdId = `${hold.id}/attempt-${trace.attempts}`;
  try {
    const held = await gateway.ledger.submit({
      type: 'reserve',
      holdId,
      ledgerId: ledgerIdOf(key.accountId, key.mode),
      keyId: key.id,
      amountMicros: zeroMicros,
      dailyCapMicros: null,
      monthlyCapMicros: null,
      owner: gateway.owner,
    });
    const outcome = held.type === 'held' ? await gateway.ledger.submit({ type: 'release', holdId, lossMicros }) : held;
    if (outcome.type === 'released') return addLoss(charging, lossMicros);
    throw new Error(`the ledger answered with ${outcome.type}`);
  } catch (err) {
    // The request itself can still be served.
    gateway.log.warn({ err, request_id: hold.id, loss_micros: lossMicros }, 'a loss could not be booked');
  }
}

/** By the provider's own count where it is final; else what the call has used so far, if it is likely to have run at all. */
function lossOf(running: Running, failed: Failed): Micros {
  const { failure, progress, isWhole = false, hasStreamed = false } = failed;
  const { usage: told, output, searches: searchesSoFar = 0 } = progress;
  const hasWritten = told !== null || output.bytes + searchesSoFar > 0 || (hasStreamed && running.unseen.tokens > 0);
  const hasRun = hasWritten || failure.isBilled || isBilledWithoutAnswer(running, failed);
  if (!hasRun) return zeroMicros;
  const { usage, searches } = isWhole
    ? finalUse(running, { ...progress, outputBytes: output.bytes })
    : useSoFar(running, progress);
  return priceUsage(running.attempt.price, usage, searches).upstreamCostMicros;
}

/**
 * Whether the provider is likely to bill a call of which no answer was seen. It does when it gave no answer in time, when its answer broke
 * off, and when we stopped it. It does not when it refused by a status, when a proxy sent a page instead, or when the connection failed.
 */
function isBilledWithoutAnswer({ controller, attempt }: Running, { failure, requestSent }: Failed): boolean {
  if (!requestSent || attempt.route.transport === 'sandbox') return false;
  if (failure.kind === 'connection') return controller.signal.aborted;
  return failure.kind === 'timeout' || failure.kind === 'broken-stream';
}

function addLoss({ trace }: Charging, lossMicros: Micros): void {
  trace.lossMicros = (trace.lossMicros ?? 0) + lossMicros;
}

type Priced = {
  readonly upstreamCostMicros: Micros;
  readonly priceVersion: string;
};

function recordOf({ gateway, model, format, attempt, request, trace }: Running, ended: Ended, priced: Priced): ChargeRecord {
  return {
    modelId: model.id,
    modelName: model.displayName,
    endpoint: format.name,
    provider: providerNameOf(attempt.route),
    usage: ended.used.usage,
    webSearches: ended.used.searches,
    images: 0,
    usageSource: ended.used.source,
    priceVersion: priced.priceVersion,
    upstreamCostMicros: priced.upstreamCostMicros,
    ending: ended.ending,
    streamed: request.stream,
    ...timesOf(trace, gateway.clock),
  };
}
