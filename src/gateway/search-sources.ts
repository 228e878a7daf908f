// The web search of the gateway: what the configuration says of its providers, joined with what their kinds are. Live keys search through
// these, test keys through the sandbox.
import type { Activity } from '../activity/activity.ts';
import { searchModelId } from '../canonical/web-search.ts';
import type { Config } from '../config/schema.ts';
import { isSearchKind } from '../config/known-providers.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { searchProviderKinds, searchSandbox } from '../providers/registry.ts';
import { createWebSearcher, type SourceHealth, type WebSearcher } from '../search/web-searcher.ts';
import { createHttpSource, type SearchProvider } from './http-source.ts';
import { isCredentialRefused } from './retry-policy.ts';
import type { RouteHealth } from './route-health.ts';
import type { Upstreams } from './upstream.ts';

export type WebSearchers = {
  /** null: no provider is switched on. */
  readonly live: WebSearcher | null;
  readonly test: WebSearcher;
};

export type SearchParts = {
  readonly config: Config;
  readonly upstreams: Upstreams;
  /** The one of all routes. */
  readonly health: RouteHealth;
  readonly activity: Pick<Activity, 'noteCall'>;
  readonly log: Logger;
  readonly clock: Clock;
};

export function connectSearch({ config, upstreams, health, activity, log, clock }: SearchParts): WebSearchers {
  const { timeout_ms: timeoutMs } = config.search;
  const [first, ...others] = searchProvidersOf(config).map((provider) => createHttpSource(provider, upstreams));
  const onFailure: Parameters<typeof createWebSearcher>[0]['onFailure'] = (provider, failure) => {
    // A provider's own words may quote the query, which is nothing for a log.
    const reason = failure.kind === 'status' ? undefined : failure.message;
    const fields = { provider, kind: failure.kind, upstream_status: failure.status, reason };
    if (isCredentialRefused(failure.status)) log.error(fields, 'the search provider refuses its credential or wants money');
    else log.warn(fields, 'the search provider failed');
  };
  return {
    live: first
      ? createWebSearcher({ sources: [first, ...others], timeoutMs, health: sourceHealth(health, activity), onFailure, clock })
      : null,
    test: createWebSearcher({ sources: [searchSandbox(clock)], timeoutMs, clock }),
  };
}

/** A provider's searches are a route of their own beside those of models. */
function sourceHealth(health: RouteHealth, activity: SearchParts['activity']): SourceHealth {
  const routeOf = (provider: string) => ({ provider, upstreamModel: searchModelId });
  return {
    isFree: (provider) => health.isFree(routeOf(provider)),
    begin: (provider) => health.begin(routeOf(provider)),
    end: (provider, ending, ms) => {
      health.end(routeOf(provider), ending);
      activity.noteCall({ provider, kind: 'whole', ending, ms });
    },
  };
}

function searchProvidersOf({ providers, search }: Config): SearchProvider[] {
  return search.providers.flatMap((name) => {
    const { kind, base_url: baseUrl, api_key: apiKey, timeouts: own } = providers[name]!;
    // The first byte has no default of its own: a search has one limit for everything.
    const timeouts = { first_byte_ms: search.timeout_ms, ...own };
    return isSearchKind(kind) ? [{ name, kind: searchProviderKinds[kind], baseUrl, apiKey, timeouts }] : [];
  });
}
