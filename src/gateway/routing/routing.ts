// State that all requests share when they call providers: circuit breakers, the retry budget, and
// chance.
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { RetryBudget } from './retry-budget.ts';
import { RouteHealth, type RouteState } from './health.ts';

export type Routing = {
  readonly health: RouteHealth;
  readonly retryBudget: RetryBudget;
  /**
   * Returns numbers from 0 up to, not including, 1: chooses among equal routes, and varies waits.
   */
  readonly random: () => number;
};

export function createRouting(
  { health, retries }: Config,
  { log, clock }: { log: Logger; clock: Clock },
): Routing {
  return {
    health: new RouteHealth({
      failuresMax: health.failures,
      ejectionMs: health.ejection_ms,
      ejectionCapMs: health.ejection_cap_ms,
      nowMs: clock.nowMs,
      onChange: (route) => logChange(log, route),
    }),
    retryBudget: new RetryBudget({ percent: retries.budget_percent, floor: retries.budget_floor }),
    random: Math.random,
  };
}

function logChange(
  log: Logger,
  { provider, upstreamModel, reason, ejectedUntilMs }: RouteState,
): void {
  const fields = { provider, upstream_model: upstreamModel };
  if (ejectedUntilMs === null) log.info(fields, 'a route is in use again');
  else
    log.warn(
      { ...fields, reason, until: new Date(ejectedUntilMs).toISOString() },
      'a route is out of use: it is called only when no other route works',
    );
}
