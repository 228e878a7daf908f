// Sends a model request upstream until an answer begins: to each route once, then again to those whose
// failure may pass, all under one hold. Once anything of an answer has reached the client, nothing
// is sent again.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Stop } from '../../canonical/stop.ts';
import type { FailedCall } from '../calling/failed-call.ts';
import { callRoute } from '../calling/call-route.ts';
import { lighten } from '../routing/lighten.ts';
import type { Attempt } from '../routing/plan.ts';
import { withOwner } from '../calling/failure-message.ts';
import { nextStepAfter, waitBeforeRetryMs } from '../calling/retry-policy.ts';
import { isAwaited, onAbandoned } from '../audience.ts';
import type { ClientRequest } from '../../formats/format.ts';
import type { Called, Held } from '../stages.ts';
import { lossOf } from '../charging/model-bill.ts';
import { DrawnImages } from '../charging/model-call.ts';
import { UnseenOutput, type Unseen } from '../charging/unseen-output.ts';

type Answered<Answer> = {
  readonly kind: 'answered';
  readonly answer: Answer;
  /** Why the model stopped; left out: unknown. */
  readonly stop?: Stop['reason'] | null;
};

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
export function callModel<Answer>(held: Held, call: Call<Answer>): Promise<LastCall<Answer>> {
  return new ModelCalls(held, call).untilAnswered();
}

type CalledRoute = {
  readonly attempt: Attempt;
  calls: number;
  /** That of its last call. */
  failure: UpstreamFailure;
};

type Next = { readonly attempt: Attempt; readonly waitMs: number };

const attemptsPerRoute = 2;
/** No attempt begins later after the first; a running one continues. */
const deadlineMs = 300_000;
/** A route whose provider asks for a longer wait is not called again. */
const backoffMsMax = 5_000;

class ModelCalls<Answer> {
  readonly #held: Held;
  readonly #call: Call<Answer>;
  readonly #startedAtMs: number;
  /** In the order of their first calls. */
  readonly #called: CalledRoute[] = [];
  /** Retries that the retry budget has granted. */
  #granted = 0;
  #passing: { readonly failure: UpstreamFailure; readonly attempt: Attempt } | null = null;

  constructor(held: Held, call: Call<Answer>) {
    this.#held = held;
    this.#call = call;
    this.#startedAtMs = held.gateway.clock.elapsedMs();
  }

  async untilAnswered(): Promise<LastCall<Answer>> {
    try {
      const first = this.#first();
      let attempt = first instanceof Promise ? await first : first;
      for (let number = 1; ; number++) {
        const called = await this.#callOnce(attempt, number);
        const next = called.kind === 'failure' ? await this.#nextAfter(called) : null;
        if (!next) return called;
        attempt = next;
      }
    } finally {
      this.#giveBack();
    }
  }

  /**
   * One request at a time tests a route that was out of use. Another may be testing it already. Without
   * limits of credentials, nothing runs between the look and the call: else several would test it.
   */
  #first(): Attempt | Promise<Attempt> {
    const { plan, granted } = this.#held;
    const first = plan.begin(granted);
    const found = this.#firstAvailable(first);
    return found instanceof Promise ? found.then((attempt) => attempt ?? first) : (found ?? first);
  }

  #nextAvailable(): Attempt | null | Promise<Attempt | null> {
    const { plan, granted } = this.#held;
    return this.#firstAvailable(plan.next(granted));
  }

  /** Returns the attempt, or the first one behind it that may be made. */
  #firstAvailable(attempt: Attempt | null): Attempt | null | Promise<Attempt | null> {
    const { gateway, asked, plan, granted } = this.#held;
    const { routing, takeCall } = gateway.hosts;
    for (let next = attempt; next; next = plan.next(granted)) {
      const { isSandbox, name: route } = next.route;
      if (isSandbox) return next;
      if (!routing.health.isAvailable(route)) continue;
      // The provider's batch API has run this line already, so it is not called.
      const taken = asked.passed ? true : takeCall(route.provider);
      if (taken instanceof Promise) return this.#orNext(next, taken);
      if (taken) return next;
    }
    return null;
  }

  async #orNext(attempt: Attempt, taken: Promise<boolean>): Promise<Attempt | null> {
    return (await taken) ? attempt : this.#nextAvailable();
  }

  async #callOnce(attempt: Attempt, number: number): Promise<LastCall<Answer>> {
    const { gateway, caller, asked, running } = this.#held;
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
        const drawn = new DrawnImages();
        const called = { ...this.#held, call: { attempt, number, unseen, drawn, trace } };
        const result = await this.#call(called, () => {
          noteFirstByte();
          this.#giveBack();
        });
        if (result.kind === 'answered') return { ...result, called };
        const failure = withOwner(result.failure, route.name);
        return { ...result, failure, called, reported: this.#noteFailure(failure, attempt) };
      });
    } finally {
      const { written } = unseen;
      if (written && isCalled) health.noteWriting(route.name, kind, written);
      unseen.end();
    }
  }

  /**
   * Notes a failed call, and returns the failure to report if it was the last. When a route refuses
   * the request or the operator's credential, an earlier failure that will pass is reported
   * instead, because the client may retry then.
   */
  #noteFailure(failure: UpstreamFailure, attempt: Attempt): UpstreamFailure {
    const called = this.#called.find((one) => one.attempt === attempt);
    if (!called) this.#called.push({ attempt, calls: 1, failure });
    else {
      called.calls += 1;
      called.failure = failure;
    }
    if (nextStepAfter(failure) === 'again') this.#passing = { failure, attempt };
    return this.#passing && this.#passing.attempt !== attempt ? this.#passing.failure : failure;
  }

  /** Returns the next call after its wait; null when none is made and the failure is reported. */
  async #nextAfter(failed: LastFailedCall): Promise<Attempt | null> {
    const { called } = failed;
    const { gateway, asked, running } = called;
    const { attempt, number } = called.call;
    if (failed.begun || this.#isGivenUp || attempt.route.isSandbox || asked.passed) return null;
    // Not a retry: the host refused the request at once, and is asked for less.
    const lighter = lighten(gateway.hosts.routing, attempt, failed);
    const next = lighter ? { attempt: lighter, waitMs: 0 } : await this.#choose(failed);
    if (!next) return null;
    if (next.waitMs > 0) await this.#waitUnlessGone(next.waitMs);
    if (this.#isGivenUp) return null;
    await running.hold.bookLossBeside({ ...lossOf(called, failed), callNumber: number });
    return next.attempt;
  }

  /**
   * Returns the same route when its provider said how soon to come back, otherwise a route that was
   * not called yet, otherwise a failed route once more. Returns null when none or no time is left, or
   * when the failure to report cannot pass.
   */
  async #choose({ called, failure, reported }: LastFailedCall): Promise<Next | null> {
    if (this.#leftMs <= 0 || failure.isBilled || nextStepAfter(reported) === 'never') return null;
    const invited = failure.retryAfterSeconds ? this.#retry(called.call.attempt) : null;
    if (invited) return invited;
    const next = await this.#nextAvailable();
    return next ? { attempt: next, waitMs: 0 } : this.#retry(null);
  }

  /**
   * Returns another call of a route that failed, with its wait: of the route that was called least,
   * or of `only`. Returns null when no route may be called again in the time left, or the retry
   * budget is used up.
   */
  #retry(only: Attempt | null): Next | null {
    const { config, hosts, runs } = this.#held.gateway;
    const { random, retryBudget } = hosts.routing;
    const callsSoFar = this.#called.reduce((sum, { calls }) => sum + calls, 0);
    if (callsSoFar >= config.retries.max_attempts) return null;
    const backoff = { baseMs: config.tuning.backoffMs, capMs: backoffMsMax, random };
    for (const { attempt, calls, failure } of this.#called.toSorted((a, b) => a.calls - b.calls)) {
      if (only && attempt !== only) continue;
      if (calls >= attemptsPerRoute || nextStepAfter(failure) !== 'again') continue;
      const waitMs = waitBeforeRetryMs(failure, calls - 1, backoff);
      if (waitMs === null || waitMs >= this.#leftMs) continue;
      if (!retryBudget.take(runs.liveCount)) return null;
      this.#granted += 1;
      return { attempt, waitMs };
    }
    return null;
  }

  /** Called when an answer has begun, or the request has ended. */
  #giveBack(): void {
    this.#held.gateway.hosts.routing.retryBudget.giveBack(this.#granted);
    this.#granted = 0;
  }

  /** Time left in which another call may begin. */
  get #leftMs(): number {
    return this.#startedAtMs + deadlineMs - this.#held.gateway.clock.elapsedMs();
  }

  /** True when nobody waits for the answer any more, or the program ends. */
  get #isGivenUp(): boolean {
    const { running } = this.#held;
    return running.run.waiting.aborted || !isAwaited(running);
  }

  async #waitUnlessGone(waitMs: number): Promise<void> {
    const { gateway, running } = this.#held;
    const abandoned = new AbortController();
    onAbandoned(running, () => abandoned.abort());
    const { waiting } = running.run;
    await gateway.clock.sleep(waitMs, AbortSignal.any([waiting, abandoned.signal]));
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
