// Web search providers: their configuration joined with their kinds. Live keys search through
// these, test keys through the sandbox.
import type { Config } from '../../config/schema.ts';
import { isSearchKind } from '../../terms/provider-kind.ts';
import { searchProviderKinds } from '../../providers/registry.ts';
import { searchSandbox } from '../../providers/sandbox/search.ts';
import type { Mode } from '../../terms/mode.ts';
import type { PriceFactor } from '../../domain/catalog/price.ts';
import type { SearchPrice } from '../../domain/catalog/search-price.ts';
import { resultsByDefault } from '../../domain/search/search-request.ts';
import { roundUpToMicro, type Micros } from '../../lib/money.ts';
import { searchPriceOf, shownSearchPrices } from './search-prices.ts';
import { createHttpSource, type SearchProvider } from './http-source.ts';
import { createWebSearcher, type LostCalls, type WebSearcher } from './web-searcher.ts';
import type { Clock } from '../../lib/clock.ts';
import type { TakeCall } from '../calling/call-limits.ts';
import type { RouteHealth } from '../calling/health.ts';
import type { Upstreams } from '../calling/upstreams.ts';

/** The gateway's own search, for a model whose provider has none. */
export type OwnSearch = {
  readonly searcher: WebSearcher;
  /** Returns the operator's cost of search calls that failed. */
  readonly lossOf: (lost: readonly LostCalls[]) => Micros;
};

type OfferedSearch = OwnSearch & { readonly price: SearchPrice };

export type WebSearchers = ReturnType<typeof connectSearch>;

type SearchParts = {
  readonly config: Config;
  readonly upstreams: Upstreams;
  readonly health: RouteHealth;
  readonly takeCall: TakeCall;
  readonly clock: Clock;
};

/** How long a web search may take, including all providers that are tried. */
export const searchMs = 20_000;

export function connectSearch({ config, upstreams, health, takeCall, clock }: SearchParts) {
  const sources = searchProvidersOf(config).map((provider) =>
    createHttpSource(provider, upstreams),
  );
  const common = { health, takeCall, timeoutMs: searchMs, clock };
  const searchers = {
    /** null: no provider is active. */
    live: sources.length > 0 ? createWebSearcher({ ...common, sources }) : null,
    test: createWebSearcher({ ...common, sources: [searchSandbox(clock)] }),
  };
  return {
    ...searchers,
    /** The search for models whose providers have none; null: no provider is active or it is not sold. */
    offerOwn: (mode: Mode, factor: PriceFactor): OfferedSearch | null => {
      // A test key gets what a live one would.
      const searcher = searchers.live && searchers[mode];
      const price = searcher && shownSearchPrices(config, factor, mode).usual;
      return price && { searcher, price, lossOf: (lost) => lossOf(lost, factor) };
    },
  };

  function lossOf(lost: readonly LostCalls[], factor: PriceFactor): Micros {
    const pricesOf = (calls: LostCalls) =>
      searchPriceOf(config, { ...calls, num: resultsByDefault }, factor)?.upstreamPicos ?? 0n;
    return roundUpToMicro(lost.reduce((sum, calls) => sum + pricesOf(calls), 0n));
  }
}

function searchProvidersOf({ providers, search }: Config): SearchProvider[] {
  return search.providers.flatMap((name) => {
    const { kind, base_url: baseUrl, api_key: apiKey, timeouts: own } = providers[name]!;
    // A search has one timeout for everything.
    const timeouts = { first_byte_ms: searchMs, idle_ms: searchMs, ...own };
    return isSearchKind(kind)
      ? [{ name, kind: searchProviderKinds[kind], baseUrl, apiKey, timeouts }]
      : [];
  });
}
