// Sends a request upstream until an answer begins: to each route once, then again to those whose
// failure may pass, all under one hold. Once anything of an answer has reached the client, nothing
// is sent again.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { RequestTry } from '../../canonical/request-try.ts';
import type { CallFailed } from '../calling/call.ts';
import type { Gateway } from '../gateway.ts';
import { logFailure, noteCallEnd } from '../routing/ended-call.ts';
import { answerKindOf, type CallEnding } from '../routing/health.ts';
import { lighten } from '../routing/lighten.ts';
import type { Attempt } from '../routing/plan.ts';
import { nextStepAfter, waitBeforeRetryMs } from '../routing/retry-policy.ts';
import { isAwaited, onAbandoned } from '../audience.ts';
import type { Called, Held } from '../stages.ts';
import { isProvoked } from '../charging/provoked.ts';
import { lossOf } from '../charging/settle.ts';
import { UnseenOutput, type Unseen } from '../charging/unseen-output.ts';

/** A finished call. */
export type Tried<Answer> = { readonly kind: 'answered'; readonly answer: Answer } | CallFailed;

/** Makes one call. Call `noteAnswer` as soon as anything of an answer can be sent. */
type Call<Answer> = (called: Called, noteAnswer: () => void) => Promise<Tried<Answer>>;

/** `reported`: the failure that the client sees, perhaps that of an earlier call. */
export type LastFailed = CallFailed & {
  readonly called: Called;
  readonly reported: UpstreamFailure;
};

type LastCall<Answer> =
  | { readonly kind: 'answered'; readonly called: Called; readonly answer: Answer }
  | LastFailed;

/** Returns the first call that gives an answer, or the last call when all failed. */
export async function tryRoutes<Answer>(held: Held, call: Call<Answer>): Promise<LastCall<Answer>> {
  const retrying = new Retrying(held.gateway);
  try {
    let attempt = firstAttempt(held);
    for (let number = 1; ; number++) {
      const called = beginCall(held, attempt, number);
      const tried = await callRoute(called, call, retrying).finally(() => {
        called.unseen.end();
        called.span?.end();
      });
      if (tried.kind === 'answered') return { ...tried, called };
      held.log.note({ upstreamStatus: tried.failure.status });
      called.span?.fail(tried.failure);
      const reported = retrying.noteFailure(tried, attempt);
      const next = await nextAttempt(called, { ...tried, reported }, retrying);
      if (!next) return { ...tried, called, reported };
      attempt = next;
    }
  } finally {
    retrying.giveBack();
  }
}

/** The calls of one request so far. */
class Retrying {
  /** In the order of their first calls. */
  readonly #routes: TriedRoute[] = [];
  readonly #gateway: Gateway;
  readonly #startedAtMs: number;
  #granted = 0;
  #passing: { readonly failure: UpstreamFailure; readonly attempt: Attempt } | null = null;

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
    this.#startedAtMs = gateway.clock.elapsedMs();
  }

  /** Time left in which another call may begin. */
  get leftMs(): number {
    const { clock, config } = this.#gateway;
    return this.#startedAtMs + config.retries.deadline_ms - clock.elapsedMs();
  }

  /**
   * Notes a failed call, and returns the failure to report if it was the last. When a route refuses
   * the request or the operator's credential, an earlier failure that will pass is reported
   * instead, because the client may retry then.
   */
  noteFailure({ failure }: CallFailed, attempt: Attempt): UpstreamFailure {
    const tried = this.#routes.find((route) => route.attempt === attempt);
    if (!tried) this.#routes.push({ attempt, calls: 1, failure });
    else {
      tried.calls += 1;
      tried.failure = failure;
    }
    if (nextStepAfter(failure) === 'again') this.#passing = { failure, attempt };
    return this.#passing && this.#passing.attempt !== attempt ? this.#passing.failure : failure;
  }

  /**
   * Returns another call of a route that failed, with its wait: of the route that was called least,
   * or of `only`. Returns null when no route may be called again in the time left, or the retry
   * budget is used up.
   */
  retry(only: Attempt | null): Next | null {
    const { config, routing, runs } = this.#gateway;
    const limits = config.retries;
    const callsSoFar = this.#routes.reduce((sum, { calls }) => sum + calls, 0);
    if (callsSoFar >= limits.max_attempts) return null;
    const options = {
      baseMs: limits.backoff_base_ms,
      capMs: limits.backoff_cap_ms,
      random: routing.random,
    };
    for (const { attempt, calls, failure } of this.#routes.toSorted(byCalls)) {
      if (only && attempt !== only) continue;
      if (calls >= limits.attempts_per_route || nextStepAfter(failure) !== 'again') continue;
      const waitMs = waitBeforeRetryMs(failure, calls - 1, options);
      if (waitMs === null || waitMs >= this.leftMs) continue;
      if (!routing.retryBudget.take(runs.count)) return null;
      this.#granted += 1;
      return { attempt, waitMs };
    }
    return null;
  }

  giveBack(): void {
    this.#gateway.routing.retryBudget.giveBack(this.#granted);
    this.#granted = 0;
  }
}

type TriedRoute = {
  readonly attempt: Attempt;
  calls: number;
  /** That of its last call. */
  failure: UpstreamFailure;
};

const byCalls = (one: TriedRoute, other: TriedRoute): number => one.calls - other.calls;

/**
 * One request at a time tests a route that was out of use. Another may be testing it already.
 */
function firstAttempt(held: Held): Attempt {
  const first = held.plan.begin(held.granted);
  return isAvailable(held, first) ? first : (nextAvailable(held) ?? first);
}

function nextAvailable(held: Held): Attempt | null {
  const { plan, granted } = held;
  for (let next = plan.next(granted); next; next = plan.next(granted))
    if (isAvailable(held, next)) return next;
  return null;
}

function isAvailable({ gateway }: Held, { route }: Attempt): boolean {
  return route.isPlayed || gateway.routing.health.isAvailable(route.name);
}

function beginCall(held: Held, attempt: Attempt, number: number): Called {
  const { gateway, request, log } = held;
  log.note({ attempts: number, provider: attempt.route.name.provider });
  const { route } = attempt;
  const unseen = new UnseenOutput(gateway.clock, {
    choices: request.choices,
    unseen: unseenBy(request, attempt),
    tokensPerSecond: gateway.routing.health.tokensPerSecond(route.name, answerKindOf(request)),
  });
  held.run.follow(unseen);
  const span =
    log.spans?.beginCall({
      provider: route.name.provider,
      upstreamModel: route.upstreamModel,
      baseUrl: route.isPlayed ? null : route.provider.baseUrl,
      isStream: request.stream,
    }) ?? null;
  return { ...held, attempt, number, unseen, span };
}

/**
 * Returns the output that the client cannot see. An answer without streaming shows nothing until
 * its end. A thinking model may hide its thoughts, and a call may come whole.
 */
function unseenBy({ stream }: Held['request'], { written }: Attempt): Unseen {
  if (!stream) return 'all';
  return written.mayHide ? 'parts' : 'nothing';
}

async function callRoute<Answer>(
  called: Called,
  call: Call<Answer>,
  retrying: Retrying,
): Promise<Tried<Answer>> {
  const { gateway, request, run } = called;
  const { route } = called.attempt;
  if (route.isPlayed) return call(called, () => called.span?.noteFirstPiece());
  const { health } = gateway.routing;
  let ending: CallEnding = 'unknown';
  let failure: UpstreamFailure | null = null;
  const { clock } = gateway;
  const startedAtMs = clock.elapsedMs();
  let answeredAtMs: number | null = null;
  health.begin(route.name);
  try {
    const tried = await call(called, () => {
      answeredAtMs = clock.elapsedMs();
      called.span?.noteFirstPiece();
      health.noteAnswer(route.name);
      retrying.giveBack();
    });
    if (tried.kind === 'answered') ending = 'good';
    else {
      failure = tried.failure;
      if (!run.waiting.aborted) ending = noteFailure(called, failure);
    }
    return tried;
  } finally {
    const kind = answerKindOf(request);
    const { written } = called.unseen;
    if (written) health.noteWriting(route.name, kind, written);
    const ms = (answeredAtMs ?? clock.elapsedMs()) - startedAtMs;
    noteCallEnd(gateway, { route: route.name, kind, ending, failure, ms });
    called.log.addTry({ ...tryOf(called, failure), ms: Math.round(ms) });
  }
}

function tryOf(
  { attempt: { route } }: Called,
  failure: UpstreamFailure | null,
): Omit<RequestTry, 'ms'> {
  return {
    provider: route.name.provider,
    model: route.name.upstreamModel,
    ending: failure ? 'failed' : 'answered',
    failure: failure?.kind ?? null,
    status: failure?.status ?? null,
  };
}

function noteFailure(
  { gateway, attempt: { route }, number, requestId, model }: Called,
  failure: UpstreamFailure,
): CallEnding {
  const { provider } = route.name;
  const fields = { request_id: requestId, provider, model: model.id, attempt: number };
  return logFailure(gateway.log, { failure, fields, message: 'the upstream failed' });
}

/** Returns the next call after its wait; null when none is made and the failure is reported. */
async function nextAttempt(
  called: Called,
  failed: Pick<LastFailed, keyof CallFailed | 'reported'>,
  retrying: Retrying,
): Promise<Attempt | null> {
  const { attempt } = called;
  if (failed.begun || isGivenUp(called) || attempt.route.isPlayed) return null;
  // Not a retry: the host refused the request at once, and is asked for less.
  const lighter = lighten(called, failed);
  const next = lighter ? { attempt: lighter, waitMs: 0 } : chooseNext(called, failed, retrying);
  if (!next) return null;
  if (next.waitMs > 0) await waitUnlessGone(called, next.waitMs);
  if (isGivenUp(called)) return null;
  await called.hold.bookLossBeside(lossOf(called, failed), {
    callNumber: called.number,
    isProvoked: isProvoked(called, failed),
  });
  return next.attempt;
}

type Next = { readonly attempt: Attempt; readonly waitMs: number };

/**
 * Returns the same route when its provider said how soon to come back, otherwise a route that was
 * not called yet, otherwise a failed route once more. Returns null when none or no time is left, or
 * when the failure to report cannot pass.
 */
function chooseNext(
  called: Called,
  { failure, reported }: Pick<LastFailed, 'failure' | 'reported'>,
  retrying: Retrying,
): Next | null {
  if (retrying.leftMs <= 0 || failure.isBilled || nextStepAfter(reported) === 'never') return null;
  const invited = failure.retryAfterSeconds ? retrying.retry(called.attempt) : null;
  if (invited) return invited;
  const next = nextAvailable(called);
  return next ? { attempt: next, waitMs: 0 } : retrying.retry(null);
}

/** True when nobody waits for the answer any more, or the program ends. */
function isGivenUp(held: Held): boolean {
  return held.run.waiting.aborted || !isAwaited(held);
}

async function waitUnlessGone(held: Held, waitMs: number): Promise<void> {
  const abandoned = new AbortController();
  onAbandoned(held, () => abandoned.abort());
  await held.gateway.clock.sleep(waitMs, AbortSignal.any([held.run.waiting, abandoned.signal]));
}
