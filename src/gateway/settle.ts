// The end of a hold: a charge or a release. A charge is durable before the client is told of success.
import { LedgerUnavailable } from '../ledger/batcher.ts';
import type { ChargeRecord, Outcome, Settle } from '../ledger/commands.ts';
import { ledgerIdOf } from '../ledger/commands.ts';
import type { Clock } from '../lib/clock.ts';
import { keepPrice, type PriceTerms } from '../canonical/price-terms.ts';
import type { Usage } from '../canonical/usage.ts';
import { countUsage, totalInputTokens } from '../canonical/usage.ts';
import { priceUsage } from '../catalog/price.ts';
import { type StoredResponse, worthOf } from '../canonical/stored-response.ts';
import type { Micros } from '../lib/money.ts';
import { floorToCents, zeroMicros } from '../lib/money.ts';
import { elapsedMs, type RequestTrace } from './gateway.ts';
import { providerNameOf } from './route.ts';
import type { CallFailed } from './call.ts';
import type { Running } from './running.ts';

export type Ended = {
  /** The upstream's own count; null when it gave none, or none yet. */
  readonly usage: Usage | null;
  /** The upstream's count of the input from the start of a stream; null when it gave none. */
  readonly earlyUsage: Usage | null;
  readonly outputBytes: number;
  /** Web searches that the provider has run; left out: none. */
  readonly searches?: number;
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
  const usage = clampUsage(running, ended.usage ?? ownCount(running, ended));
  const searches = clampSearches(running, ended.searches ?? 0);
  const priced = priceUsage(attempt.price, usage, searches);
  // The cache knows an answer by the route that was to serve it: a fallback may have left out more of the request.
  const isFallback = attempt.route !== plan.first.route;
  const isWhole = ended.ending === 'complete' && !ended.isLimited && !hold.isReduced && !isFallback;
  const record = recordOf(running, ended, { usage, searches, ...priced });
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
type Failed = Pick<CallFailed, 'failure' | 'requestSent' | 'progress'>;

/** Gives the hold back. `failed`: the last call, which the provider may bill; null: there was none. */
export async function releaseHold(running: Running, failed: Failed | null): Promise<void> {
  await giveBack(running, failed ? lossOf(running, failed) : zeroMicros);
}

/** As `releaseHold`, of anything that has a price. */
export async function giveBack(charging: Charging, lossMicros: Micros): Promise<void> {
  charging.trace.ending ??= 'failed';
  const outcome = await charging.gateway.ledger.submit({ type: 'release', holdId: charging.hold.id, lossMicros });
  charging.isResolved = true;
  if (outcome.type === 'released') addLoss(charging, lossMicros);
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

/** By the provider's own count where there is one; else our estimate of what it read and wrote, if it is likely to have run at all. */
function lossOf(running: Running, failed: Failed): Micros {
  const { usageSoFar, earlyUsage, outputBytes } = failed.progress;
  const searches = clampSearches(running, failed.progress.searches ?? 0);
  const hasRun = usageSoFar !== null || outputBytes > 0 || searches > 0 || isBilledWithoutAnswer(running, failed);
  if (!hasRun) return zeroMicros;
  const own = ownCount(running, { earlyUsage, outputBytes });
  // A count from the middle of a stream may be older than what was seen since.
  const isFinal = failed.failure.isBilled ?? false;
  const outputTokens = Math.max(usageSoFar?.outputTokens ?? 0, isFinal ? 0 : own.outputTokens);
  const usage = clampUsage(running, { ...(usageSoFar ?? own), outputTokens });
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
  readonly usage: Usage;
  readonly searches: number;
  readonly upstreamCostMicros: Micros;
  readonly priceVersion: string;
};

function recordOf({ gateway, model, format, attempt, request, trace }: Running, ended: Ended, priced: Priced): ChargeRecord {
  return {
    modelId: model.id,
    modelName: model.displayName,
    endpoint: format.name,
    provider: providerNameOf(attempt.route),
    usage: priced.usage,
    webSearches: priced.searches,
    images: 0,
    usageSource: ended.usage ? 'upstream' : 'estimate',
    priceVersion: priced.priceVersion,
    upstreamCostMicros: priced.upstreamCostMicros,
    ending: ended.ending,
    streamed: request.stream,
    ...timesOf(trace, gateway.clock),
  };
}

function ownCount({ estimate }: Running, { earlyUsage, outputBytes }: Pick<Ended, 'earlyUsage' | 'outputBytes'>): Usage {
  return countUsage({ estimatedInputTokens: estimate.likely, outputBytes, early: earlyUsage });
}

/** An upstream's usage is untrusted: no request can have more input than the context, nor more output than the model gives. */
function clampUsage({ model, request, gateway, requestId, attempt: { route, search } }: Running, usage: Usage): Usage {
  const outputMax = model.maxOutputTokens * request.choices;
  // Every search is a round of its own, whose input is counted again.
  const inputMax = model.contextTokens * (1 + (search?.searchesMax ?? 0));
  if (totalInputTokens(usage) <= inputMax && usage.outputTokens <= outputMax) return usage;
  gateway.log.warn(
    { request_id: requestId, provider: providerNameOf(route), usage },
    'the upstream reported more tokens than the model can take or give: clamped',
  );
  let room = inputMax;
  const take = (tokens: number) => {
    const taken = Math.min(tokens, room);
    room -= taken;
    return taken;
  };
  return {
    inputTokens: take(usage.inputTokens),
    cacheReadTokens: take(usage.cacheReadTokens),
    cacheWriteTokens: take(usage.cacheWriteTokens),
    cacheWrite1hTokens: take(usage.cacheWrite1hTokens),
    outputTokens: Math.min(usage.outputTokens, outputMax),
    reasoningTokens: Math.min(usage.reasoningTokens, usage.outputTokens, outputMax),
  };
}

/** The provider was told how many searches it may run: more than that is nothing the client asked for. */
function clampSearches({ attempt: { search }, gateway, requestId }: Running, searches: number): number {
  const searchesMax = search?.searchesMax ?? 0;
  if (searches <= searchesMax) return searches;
  gateway.log.warn(
    { request_id: requestId, searches, searchesMax },
    'the upstream reported more web searches than it was allowed: clamped',
  );
  return searchesMax;
}
