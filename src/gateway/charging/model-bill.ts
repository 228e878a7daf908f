// Computes what a call of a model costs: its account after an answer, the operator after a failure.
import { priceUsage, upstreamCostOf, type ImagesRun } from '../../domain/catalog/price.ts';
import type { ChargeRecord } from '../../domain/ledger/commands.ts';
import { micros, type Micros } from '../../lib/money.ts';
import type { FailedCall } from '../calling/failed-call.ts';
import { elapsedMs } from '../request.ts';
import type { CalledModel as Called } from './model-call.ts';
import type { Bill, Loss } from './open-hold.ts';
import { finalUse, useSoFar, type Used } from './used.ts';
import { mayOutlast } from './worst-case.ts';

export type Ended = {
  readonly used: Used;
  readonly ending: 'complete' | 'cut-off';
  /** The answer ends early because nothing more could be held, or the model broke off. */
  readonly isLimited?: boolean;
  /**
   * Milliseconds from the request's arrival to the first piece of a stream; null: none came, or the
   * answer came whole.
   */
  readonly firstByteMs: number | null;
};

/**
 * Returns the bill for what was used. `losses`: what the provider claims beyond what the request could
 * cause or asked for; no account is to blame.
 */
export function billOf(
  called: Called,
  ended: Ended,
): { readonly bill: Bill; readonly losses: readonly Loss[] } {
  const { attempt, number } = called.call;
  const images = imagesOf(called);
  const { usage, searches, claimed, claimedSearches } = ended.used;
  const nowMs = called.gateway.clock.nowMs();
  const priced = priceUsage(attempt.price, { usage, searches, ...images, nowMs });
  const bill = { ...priced, record: recordOf(called, ended, priced) };
  const claim = { usage: claimed ?? usage, searches: claimedSearches, ...images, nowMs };
  const lossMicros = upstreamCostOf(attempt.price, claim) - priced.upstreamCostMicros;
  const { tier: named = priced.tier } = usage;
  if (named !== priced.tier)
    called.gateway.log.warn(
      {
        request_id: called.caller.requestId,
        provider: attempt.route.name.provider,
        named,
        charged: priced.tier,
      },
      'the upstream used a service tier that was not asked for or has no price',
    );
  return {
    bill,
    losses: lossMicros > 0 ? [{ lossMicros: micros(lossMicros), callNumber: number }] : [],
  };
}

export function soldBy(called: Called, ended: Ended) {
  const { plan, granted, call } = called;
  // The cache key names the primary route, and a fallback may have left out more of the request.
  const isFallback = plan.beginsWithFallback || call.attempt.route !== plan.firstRoute;
  const isWhole =
    ended.ending === 'complete' &&
    !ended.isLimited &&
    !call.drawn.isIncomplete &&
    !granted.isReduced &&
    !isFallback;
  return { ...billOf(called, ended), kind: 'sold', isWhole } as const;
}

/** Returns what nobody pays of a failed call, and whether the account could cause it. */
export function lossOf(called: Called, failed: FailedCall) {
  const lossMicros = billedFor(called, failed);
  return { lossMicros, isCausedByAccount: isCausedByAccount(called, failed) };
}

/** Returns what the host takes for a request that its rules forbid. An account's own key pays it itself. */
export function feeFor({ call: { attempt } }: Called, { failure }: FailedCall): Micros {
  const { name, provider } = attempt.route;
  const isOurs = failure.isForbidden && name.ownKeyId === undefined;
  return micros(isOurs ? (provider.wishes.forbiddenFeeMicros ?? 0) : 0);
}

/**
 * Returns true when the account could cause the failure: by the model's own output, by what the host
 * takes a fee for, or by asking for so much output that writing it takes longer than the answer may
 * take, or costs more than it has.
 */
function isCausedByAccount(called: Called, failed: FailedCall): boolean {
  const { failure } = failed;
  const { granted } = called;
  if (failure.isUnaffordable || feeFor(called, failed) > 0) return true;
  if (!failure.isOverdue) return failure.isCausedByAccount ?? false;
  return mayOutlast(granted.wanted, granted.maxOutputTokens);
}

/**
 * Returns what the provider bills for a failed call: by its final count, else by the use so far.
 * Returns what a refusal costs when the call has probably not run.
 */
function billedFor(called: Called, failed: FailedCall): Micros {
  const { failure, progress, hasStreamed = false } = failed;
  const { usage: reported, output, searches: searchesSoFar = 0 } = progress;
  const hasWritten =
    reported !== null ||
    output.bytes + searchesSoFar > 0 ||
    called.call.drawn.images !== null ||
    (hasStreamed && called.call.unseen.tokens > 0);
  const hasRun = hasWritten || failure.isBilled || isBilledWithoutAnswer(called, failed);
  const fee = feeFor(called, failed);
  if (!hasRun) return fee;
  const { usage, claimed, claimedSearches: searches } = failedUse(called, failed);
  const nowMs = called.gateway.clock.nowMs();
  const run = { usage: claimed ?? usage, searches, ...imagesOf(called), nowMs };
  return micros(upstreamCostOf(called.call.attempt.price, run) + fee);
}

function imagesOf({ call: { drawn } }: Called): { readonly images?: ImagesRun } {
  return drawn.images ? { images: drawn.images } : {};
}

export function failedUse(called: Called, { progress, isWhole = false }: FailedCall): Used {
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
  { running: { run }, call: { attempt } }: Called,
  { failure, requestSent }: FailedCall,
): boolean {
  if (!requestSent || attempt.route.isSandbox) return false;
  if (failure.kind === 'connection') return run.waiting.aborted;
  return failure.kind === 'timeout' || failure.kind === 'broken-stream';
}

type Priced = Pick<ChargeRecord, 'upstreamCostMicros' | 'priceVersion'>;

function recordOf(
  called: Called,
  { used, ending, firstByteMs }: Ended,
  priced: Priced,
): ChargeRecord {
  const { model, format, request } = called.asked;
  const { attempt, number } = called.call;
  return {
    ...cacheFactsOf(called),
    modelId: model.id,
    modelName: model.displayName,
    endpoint: format.endpoint ?? format.name,
    provider: attempt.route.name.provider,
    usage: used.usage,
    webSearches: used.searches,
    images: called.call.drawn.images?.count ?? 0,
    usageSource: used.source,
    priceVersion: priced.priceVersion,
    upstreamCostMicros: priced.upstreamCostMicros,
    ending,
    streamed: request.stream,
    attempts: number,
    durationMs: elapsedMs(called.gateway.clock, called.caller),
    firstByteMs,
  };
}

/** What tells later why the prompt was not read from the host's cache. The sandbox has none. */
function cacheFactsOf({ asked, plan, call }: Called): Partial<ChargeRecord> {
  const { route, written } = call.attempt;
  if (route.isSandbox) return {};
  const routes = plan.routesBeside(route);
  return {
    conversation: asked.conversation().slice(0, conversationLength),
    cacheMarks: written.cacheMarks,
    rankRoutes: routes > 1 ? routes : null,
  };
}

/** 72 bits tell an account's conversations apart. */
const conversationLength = 12;
