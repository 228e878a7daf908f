// The retries of one model request: which route may be called again after all failed, and when.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../lib/clock.ts';
import { nextStepAfter, waitBeforeRetryMs } from './retry-policy.ts';
import type { RetryBudget } from './retry-budget.ts';

type RetriesOptions = {
  readonly limits: Config['retries'];
  readonly routing: { readonly retryBudget: RetryBudget; readonly random: () => number };
  /** How many requests run. */
  readonly runs: { readonly count: number };
  readonly clock: Pick<Clock, 'elapsedMs'>;
};

type CalledRoute<Route> = {
  readonly route: Route;
  calls: number;
  /** That of its last call. */
  failure: UpstreamFailure;
};

export type Retry<Route> = { readonly route: Route; readonly waitMs: number };

export class Retries<Route> {
  /** In the order of their first calls. */
  readonly #called: CalledRoute<Route>[] = [];
  readonly #options: RetriesOptions;
  readonly #startedAtMs: number;
  #granted = 0;
  #passing: { readonly failure: UpstreamFailure; readonly route: Route } | null = null;

  constructor(options: RetriesOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.elapsedMs();
  }

  /** Time left in which another call may begin. */
  get leftMs(): number {
    const { clock, limits } = this.#options;
    return this.#startedAtMs + limits.deadline_ms - clock.elapsedMs();
  }

  /**
   * Notes a failed call, and returns the failure to report if it was the last. When a route refuses
   * the request or the operator's credential, an earlier failure that will pass is reported
   * instead, because the client may retry then.
   */
  noteFailure(failure: UpstreamFailure, route: Route): UpstreamFailure {
    const called = this.#called.find((one) => one.route === route);
    if (!called) this.#called.push({ route, calls: 1, failure });
    else {
      called.calls += 1;
      called.failure = failure;
    }
    if (nextStepAfter(failure) === 'again') this.#passing = { failure, route };
    return this.#passing && this.#passing.route !== route ? this.#passing.failure : failure;
  }

  /**
   * Returns another call of a route that failed, with its wait: of the route that was called least,
   * or of `only`. Returns null when no route may be called again in the time left, or the retry
   * budget is used up.
   */
  take(only: Route | null): Retry<Route> | null {
    const { limits, routing, runs } = this.#options;
    const callsSoFar = this.#called.reduce((sum, { calls }) => sum + calls, 0);
    if (callsSoFar >= limits.max_attempts) return null;
    const options = {
      baseMs: limits.backoff_base_ms,
      capMs: limits.backoff_cap_ms,
      random: routing.random,
    };
    for (const { route, calls, failure } of this.#called.toSorted((a, b) => a.calls - b.calls)) {
      if (only && route !== only) continue;
      if (calls >= limits.attempts_per_route || nextStepAfter(failure) !== 'again') continue;
      const waitMs = waitBeforeRetryMs(failure, calls - 1, options);
      if (waitMs === null || waitMs >= this.leftMs) continue;
      if (!routing.retryBudget.take(runs.count)) return null;
      this.#granted += 1;
      return { route, waitMs };
    }
    return null;
  }

  /** Call when an answer has begun, or the request has ended. */
  giveBack(): void {
    this.#options.routing.retryBudget.giveBack(this.#granted);
    this.#granted = 0;
  }
}
