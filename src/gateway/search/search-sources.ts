// Web search providers: their configuration joined with their kinds. Live keys search through
// these, test keys through the sandbox.
import { searchModelId } from '../../canonical/web-search.ts';
import type { Config } from '../../config/schema.ts';
import { isSearchKind } from '../../canonical/provider-kind.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { searchProviderKinds, searchSandbox } from '../../providers/registry.ts';
import {
  createWebSearcher,
  type SourceHealth,
  type LostCalls,
  type WebSearcher,
} from '../../domain/search/web-searcher.ts';
import type { Mode } from '../../canonical/mode.ts';
import type { PriceFactor } from '../../domain/catalog/price.ts';
import type { SearchPrice } from '../../domain/catalog/search-price.ts';
import { resultsByDefault } from '../../domain/search/search-request.ts';
import { roundUpToMicro, type Micros } from '../../lib/money.ts';
import type { OwnSearch } from '../routing/provider-search.ts';
import { searchPriceOf, shownSearchPrices } from './search-prices.ts';
import { createHttpSource, type SearchProvider } from './http-source.ts';
import { isCredentialRefused } from '../routing/retry-policy.ts';
import { noteCallEnd, type CallCounters } from '../routing/ended-call.ts';
import type { Upstreams } from '../calling/upstreams.ts';

export type WebSearchers = {
  /** null: no provider is active. */
  readonly live: WebSearcher | null;
  readonly test: WebSearcher;
  /** The search for models whose providers have none; null: no provider is active or it is not sold. */
  readonly offerOwn: (
    mode: Mode,
    factor: PriceFactor,
  ) => (OwnSearch & { readonly price: SearchPrice }) | null;
};

type SearchParts = CallCounters & {
  readonly config: Config;
  readonly upstreams: Upstreams;
  readonly log: Logger;
  readonly clock: Clock;
};

export function connectSearch(parts: SearchParts): WebSearchers {
  const { config, upstreams, log, clock } = parts;
  const { timeout_ms: timeoutMs } = config.search;
  const [first, ...others] = searchProvidersOf(config).map((provider) =>
    createHttpSource(provider, upstreams),
  );
  const onFailure: Parameters<typeof createWebSearcher>[0]['onFailure'] = (provider, failure) => {
    // The message of an error status may quote the query, which does not belong in a log.
    const reason = failure.kind === 'status' ? undefined : failure.message;
    const fields = { provider, kind: failure.kind, upstream_status: failure.status, reason };
    if (isCredentialRefused(failure.status))
      log.error(fields, 'the search provider refuses its credential or wants money');
    else log.warn(fields, 'the search provider failed');
  };
  const searchers = {
    live: first
      ? createWebSearcher({
          sources: [first, ...others],
          timeoutMs,
          health: sourceHealth(parts),
          onFailure,
          clock,
        })
      : null,
    test: createWebSearcher({ sources: [searchSandbox(clock)], timeoutMs, clock }),
  };
  return {
    ...searchers,
    offerOwn(mode, factor) {
      // A test key gets what a live one would.
      const searcher = searchers.live && searchers[mode];
      const price = shownSearchPrices(config, factor, mode).usual;
      return searcher && price && { searcher, price, lossOf: (lost) => lossOf(lost, factor) };
    },
  };

  function lossOf(lost: readonly LostCalls[], factor: PriceFactor): Micros {
    const pricesOf = (calls: LostCalls) =>
      searchPriceOf(config, { ...calls, num: resultsByDefault }, factor)?.upstreamPicos ?? 0n;
    return roundUpToMicro(lost.reduce((sum, calls) => sum + pricesOf(calls), 0n));
  }
}

/** A provider's searches have a circuit breaker of their own, beside its models. */
function sourceHealth(parts: SearchParts): SourceHealth {
  const { health } = parts.routing;
  const routeOf = (provider: string) => ({ provider, upstreamModel: searchModelId });
  return {
    isAvailable: (provider) => health.isAvailable(routeOf(provider)),
    begin: (provider) => health.begin(routeOf(provider)),
    end: (provider, ending, ms) =>
      noteCallEnd(parts, { route: routeOf(provider), kind: 'whole', ending, failure: null, ms }),
  };
}

function searchProvidersOf({ providers, search }: Config): SearchProvider[] {
  return search.providers.flatMap((name) => {
    const { kind, base_url: baseUrl, api_key: apiKey, timeouts: own } = providers[name]!;
    // A search has one timeout for everything.
    const silenceMs = search.timeout_ms;
    const timeouts = { first_byte_ms: silenceMs, idle_ms: silenceMs, ...own };
    return isSearchKind(kind)
      ? [{ name, kind: searchProviderKinds[kind], baseUrl, apiKey, timeouts }]
      : [];
  });
}
