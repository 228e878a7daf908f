// Sends a model request upstream until an answer begins: to each route once, then again to those whose
// failure may pass, all under one hold. Once anything of an answer has reached the client, nothing
// is sent again.
import type { Stop, UpstreamFailure } from '../../canonical/event.ts';
import type { FailedCall } from '../calling/failed-call.ts';
import { callRoute } from '../calling/call-route.ts';
import { lighten } from '../routing/lighten.ts';
import type { Attempt } from '../routing/plan.ts';
import { Retries, type Retry } from './retries.ts';
import { isCredentialRefused, nextStepAfter } from '../calling/retry-policy.ts';
import type { TakeResult } from '../../domain/limits/rates.ts';
import { tryRoutes } from '../calling/try-routes.ts';
import { isAwaited, onAbandoned } from '../audience.ts';
import type { ClientRequest } from '../../formats/format.ts';
import { withoutOwnKey } from '../../terms/own-key.ts';
import type { Called, Held } from '../stages.ts';
import { isCausedByAccount } from '../charging/caused-by-account.ts';
import { lossOf } from '../charging/model-bill.ts';
import { DrawnImages } from '../charging/model-call.ts';
import { UnseenOutput, type Unseen } from '../charging/unseen-output.ts';

type Answered<Answer> = {
  readonly kind: 'answered';
  readonly answer: Answer;
  /** Why the model stopped; left out: unknown. */
  readonly stop?: Stop['reason'] | null;
};

/** A finished call. */
export type CallResult<Answer> = Answered<Answer> | FailedCall;

/** Makes one call. Call `noteFirstByte` as soon as anything of an answer can be sent. */
type Call<Answer> = (called: Called, noteFirstByte: () => void) => Promise<CallResult<Answer>>;

/** `reported`: the failure that the client sees, perhaps that of an earlier call. */
export type LastFailedCall = FailedCall & {
  readonly called: Called;
  readonly reported: UpstreamFailure;
};

type LastCall<Answer> = (Answered<Answer> & { readonly called: Called }) | LastFailedCall;

/** Returns the first call that gives an answer, or the last call when all failed. */
export async function callModel<Answer>(held: Held, call: Call<Answer>): Promise<LastCall<Answer>> {
  const retries = new Retries(held.gateway);
  try {
    const first = firstAttempt(held);
    return await tryRoutes<Attempt, LastCall<Answer>>(
      first instanceof Promise ? await first : first,
      {
        call: (attempt, number) => callAttempt({ held, attempt, number, retries }, call),
        nextAfter: (failed) => nextAttempt(failed, retries),
      },
    );
  } finally {
    retries.giveBack();
  }
}

/**
 * One request at a time tests a route that was out of use. Another may be testing it already. Without
 * limits of credentials, nothing runs between the look and the call: else several would test it.
 */
function firstAttempt(held: Held): Attempt | Promise<Attempt> {
  const { plan, granted } = held.terms;
  const first = plan.begin(granted);
  const found = firstAvailable(held, first);
  return found instanceof Promise ? found.then((attempt) => attempt ?? first) : (found ?? first);
}

function nextAvailable(held: Held): Attempt | null | Promise<Attempt | null> {
  const { plan, granted } = held.terms;
  return firstAvailable(held, plan.next(granted));
}

/** Returns the attempt, or the first one behind it that may be made. */
function firstAvailable(
  held: Held,
  attempt: Attempt | null,
): Attempt | null | Promise<Attempt | null> {
  const { plan, granted } = held.terms;
  for (let next = attempt; next; next = plan.next(granted)) {
    if (!isInUse(held, next)) continue;
    const { name, callsPerMinute } = next.route.provider;
    if (next.route.isSandbox || callsPerMinute === null) return next;
    const taken = held.gateway.rateLimits.takeCall(name, callsPerMinute);
    if (taken instanceof Promise) return orNext(held, next, taken);
    if (taken.isGranted) return next;
  }
  return null;
}

async function orNext(
  held: Held,
  attempt: Attempt,
  taken: Promise<TakeResult>,
): Promise<Attempt | null> {
  return (await taken).isGranted ? attempt : nextAvailable(held);
}

function isInUse({ gateway }: Held, { route }: Attempt): boolean {
  return route.isSandbox || gateway.hosts.routing.health.isAvailable(route.name);
}

type ToCall = {
  readonly held: Held;
  readonly attempt: Attempt;
  readonly number: number;
  readonly retries: Retries;
};

async function callAttempt<Answer>(
  { held, attempt, number, retries }: ToCall,
  call: Call<Answer>,
): Promise<LastCall<Answer>> {
  const { gateway, caller, asked, running } = held;
  const { request } = asked;
  const { route } = attempt;
  const { clock, hosts } = gateway;
  const { health } = hosts.routing;
  const kind = request.stream ? 'stream' : 'whole';
  const unseen = new UnseenOutput(clock, {
    choices: request.choices,
    unseen: unseenBy(request, attempt),
    tokensPerSecond: health.tokensPerSecond(route.name, kind),
  });
  running.run.follow(unseen);
  const calling = { record: caller.record, clock, signal: running.run.waiting };
  // The answer of a batch API says nothing of the route's health and speed now.
  const isCalled = !route.isSandbox && !asked.passed;
  const baseUrl = isCalled ? route.provider.baseUrl : null;
  const facts = { route: route.name, baseUrl, isStream: request.stream, number };
  try {
    return await callRoute(calling, facts, async ({ trace }, noteFirstByte) => {
      const called: Called = {
        ...held,
        call: { attempt, number, unseen, drawn: new DrawnImages(), trace },
      };
      const result = await call(called, () => {
        noteFirstByte();
        retries.giveBack();
      });
      if (result.kind === 'answered') return { ...result, called };
      const failure = withOwner(result.failure, route);
      return { ...result, failure, called, reported: retries.noteFailure(failure, attempt) };
    });
  } finally {
    const { written } = unseen;
    if (written && isCalled) health.noteWriting(route.name, kind, written);
    unseen.end();
  }
}

/**
 * Returns the output that the client cannot see. An answer without streaming shows nothing until
 * its end. A thinking model may hide its thoughts, and a call may come whole.
 */
function unseenBy({ stream }: ClientRequest, { written }: Attempt): Unseen {
  if (!stream) return 'all';
  return written.mayHide ? 'parts' : 'nothing';
}

/** Says of a refused credential when it is the account's own. */
function withOwner(failure: UpstreamFailure, { name }: Attempt['route']): UpstreamFailure {
  if (name.ownKeyId === undefined || !isCredentialRefused(failure.status)) return failure;
  return { ...failure, ownKeyOf: withoutOwnKey(name.provider) };
}

/** Returns the next call after its wait; null when none is made and the failure is reported. */
async function nextAttempt(failed: LastFailedCall, retries: Retries): Promise<Attempt | null> {
  const { called } = failed;
  const { gateway, asked, running, terms } = called;
  const { attempt, number } = called.call;
  if (failed.begun || isGivenUp(called) || attempt.route.isSandbox || asked.passed) return null;
  // Not a retry: the host refused the request at once, and is asked for less.
  const lighter = lighten(gateway.hosts.routing, attempt, failed);
  const next = lighter ? { attempt: lighter, waitMs: 0 } : await chooseNext(failed, retries);
  if (!next) return null;
  if (next.waitMs > 0) await waitUnlessGone(called, next.waitMs);
  if (isGivenUp(called)) return null;
  await running.hold.bookLossBeside({
    lossMicros: lossOf(called, failed),
    callNumber: number,
    isCausedByAccount: isCausedByAccount(terms, failed),
  });
  return next.attempt;
}

/**
 * Returns the same route when its provider said how soon to come back, otherwise a route that was
 * not called yet, otherwise a failed route once more. Returns null when none or no time is left, or
 * when the failure to report cannot pass.
 */
async function chooseNext(
  { called, failure, reported }: LastFailedCall,
  retries: Retries,
): Promise<Retry | null> {
  if (retries.leftMs <= 0 || failure.isBilled || nextStepAfter(reported) === 'never') return null;
  const invited = failure.retryAfterSeconds ? retries.take(called.call.attempt) : null;
  if (invited) return invited;
  const next = await nextAvailable(called);
  return next ? { attempt: next, waitMs: 0 } : retries.take(null);
}

/** True when nobody waits for the answer any more, or the program ends. */
function isGivenUp({ running }: Held): boolean {
  return running.run.waiting.aborted || !isAwaited(running);
}

async function waitUnlessGone({ gateway, running }: Held, waitMs: number): Promise<void> {
  const abandoned = new AbortController();
  onAbandoned(running, () => abandoned.abort());
  const { waiting } = running.run;
  await gateway.clock.sleep(waitMs, AbortSignal.any([waiting, abandoned.signal]));
}
