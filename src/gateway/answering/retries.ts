// The retries of one model request: which route may be called again after all failed, and when.
import type { UpstreamFailure } from '../../canonical/event.ts';
import { nextStepAfter, waitBeforeRetryMs } from '../calling/retry-policy.ts';
import type { Gateway } from '../gateway.ts';
import type { Attempt } from '../routing/plan.ts';

type CalledRoute = {
  readonly attempt: Attempt;
  calls: number;
  /** That of its last call. */
  failure: UpstreamFailure;
};

export type Retry = { readonly attempt: Attempt; readonly waitMs: number };

const attemptsPerRoute = 2;
/** No attempt begins later after the first; a running one continues. */
const deadlineMs = 300_000;
/** A route whose provider asks for a longer wait is not called again. */
const backoffMsMax = 5_000;

export class Retries {
  /** In the order of their first calls. */
  readonly #called: CalledRoute[] = [];
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
    return this.#startedAtMs + deadlineMs - this.#gateway.clock.elapsedMs();
  }

  /**
   * Notes a failed call, and returns the failure to report if it was the last. When a route refuses
   * the request or the operator's credential, an earlier failure that will pass is reported
   * instead, because the client may retry then.
   */
  noteFailure(failure: UpstreamFailure, attempt: Attempt): UpstreamFailure {
    const called = this.#called.find((one) => one.attempt === attempt);
    if (!called) this.#called.push({ attempt, calls: 1, failure });
    else {
      called.calls += 1;
      called.failure = failure;
    }
    if (nextStepAfter(failure) === 'again') this.#passing = { failure, attempt };
    return this.#passing && this.#passing.attempt !== attempt ? this.#passing.failure : failure;
  }

  /**
   * Returns another call of a route that failed, with its wait: of the route that was called least,
   * or of `only`. Returns null when no route may be called again in the time left, or the retry
   * budget is used up.
   */
  take(only: Attempt | null): Retry | null {
    const { config, hosts, runs } = this.#gateway;
    const { random, retryBudget } = hosts.routing;
    const callsSoFar = this.#called.reduce((sum, { calls }) => sum + calls, 0);
    if (callsSoFar >= config.retries.max_attempts) return null;
    const backoff = { baseMs: config.tuning.backoffMs, capMs: backoffMsMax, random };
    for (const { attempt, calls, failure } of this.#called.toSorted((a, b) => a.calls - b.calls)) {
      if (only && attempt !== only) continue;
      if (calls >= attemptsPerRoute || nextStepAfter(failure) !== 'again') continue;
      const waitMs = waitBeforeRetryMs(failure, calls - 1, backoff);
      if (waitMs === null || waitMs >= this.leftMs) continue;
      if (!retryBudget.take(runs.count)) return null;
      this.#granted += 1;
      return { attempt, waitMs };
    }
    return null;
  }

  /** Call when an answer has begun, or the request has ended. */
  giveBack(): void {
    this.#gateway.hosts.routing.retryBudget.giveBack(this.#granted);
    this.#granted = 0;
  }
}
