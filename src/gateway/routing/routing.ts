// State that all requests share when they call providers: circuit breakers, the retry budget,
// notices to the operator, and chance.
import { isOwnKeyName } from '../../terms/own-key.ts';
import type { Config } from '../../config/schema.ts';
import type { Catalog } from '../../domain/catalog/catalog.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { TakeCall } from '../calling/call-limits.ts';
import type { Upstreams } from '../calling/upstreams.ts';
import type { WebSearchers } from '../search/search-sources.ts';
import type { ConnectedProviders } from './providers.ts';
import { createCountNotices, createUnknownNotices, RefusedSummaries } from './notices.ts';
import { RetryBudget } from '../calling/retry-budget.ts';
import { RouteHealth, type RouteState } from '../calling/health.ts';
import type { SharedHealth } from '../calling/shared-health.ts';

export type Routing = ReturnType<typeof createRouting>;

/** Where requests can go. */
export type Hosts = {
  readonly catalog: Catalog;
  readonly providers: ConnectedProviders;
  readonly upstreams: Upstreams;
  readonly routing: Routing;
  readonly searchers: WebSearchers;
  readonly takeCall: TakeCall;
};

type RoutingParts = {
  readonly log: Logger;
  readonly clock: Clock;
  readonly shared: SharedHealth;
  /** The HTTP threads of the process, each with its own retry budget. */
  readonly threads: number;
};

/** The first ejection of a route; each further one lasts twice as long. */
const ejectionMs = 10_000;

export function createRouting({ tuning }: Config, { log, clock, shared, threads }: RoutingParts) {
  return {
    health: new RouteHealth({
      failuresMax: tuning.failuresMax,
      ejectionMs,
      ejectionCapMs: tuning.ejectionMsMax,
      nowMs: clock.nowMs,
      onChange: (route) => logChange(log, route),
      shared,
    }),
    retryBudget: new RetryBudget(Math.ceil(tuning.retriesMin / threads)),
    refusedSummaries: new RefusedSummaries(clock),
    noteCounts: createCountNotices(log, clock),
    noteUnknown: createUnknownNotices(log, clock),
    /**
     * Returns numbers from 0 up to, not including, 1: chooses among equal routes, and varies waits.
     */
    random: Math.random,
  };
}

function logChange(
  log: Logger,
  { provider, upstreamModel, reason, ejectedUntilMs }: RouteState,
): void {
  // The breakers of own keys concern their accounts.
  if (isOwnKeyName(provider)) return;
  const fields = { provider, upstream_model: upstreamModel };
  if (ejectedUntilMs === null) log.info(fields, 'a route is in use again');
  else
    log.warn(
      { ...fields, reason, until: new Date(ejectedUntilMs).toISOString() },
      'a route is out of use: it is called only when no other route works',
    );
}
