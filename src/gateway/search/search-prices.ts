// Prices of the search endpoint: the maximum before it is known which provider answers, then the
// price of the one that did.
import type { PriceFactor } from '../../domain/catalog/price.ts';
import { endpointSearchPrice, type SearchPrice } from '../../domain/catalog/search-price.ts';
import type { Config } from '../../config/schema.ts';
import type { Mode } from '../../terms/mode.ts';
import { isSearchKind } from '../../terms/provider-kind.ts';
import { searchProviderKinds } from '../../providers/registry.ts';
import { resultsByDefault, resultsMax } from '../../domain/search/search-request.ts';
import { callsFor } from './http-source.ts';

type Prices = Pick<Config, 'search' | 'providers'>;

/** A search for `num` results that `provider` answered in `calls` calls. */
type Answered = { readonly provider: string; readonly num: number; readonly calls: number };

/** Returns null when searches are not sold. */
export function searchPriceOf(
  { search, providers }: Prices,
  { provider, ...counts }: Answered,
  factor: PriceFactor,
): SearchPrice | null {
  if (search.price_usd === null) return null;
  return endpointSearchPrice(
    { provider: providers[provider] ?? null, ...counts },
    { ...factor, statedUsd: search.price_usd ?? null },
  );
}

/**
 * Returns the maximum price over all providers that may answer, with all calls that each may make.
 * Without providers it is the sandbox's price. Returns null when searches are not sold.
 */
export function mostSearchPrice(
  config: Prices,
  num: number,
  factor: PriceFactor,
): SearchPrice | null {
  const names = config.search.providers.length > 0 ? config.search.providers : [''];
  const prices = names.map((name) =>
    searchPriceOf(config, { provider: name, num, calls: callsOf(config, name, num) }, factor),
  );
  return prices.reduce((one, other) => one && other && dearer(one, other));
}

/**
 * Returns the maximum prices of the usual number of results and of any number. Test keys use the
 * sandbox's.
 */
export function shownSearchPrices(prices: Prices, factor: PriceFactor, mode: Mode = 'live') {
  const config =
    mode === 'live' ? prices : { ...prices, search: { ...prices.search, providers: [] } };
  return {
    usual: mostSearchPrice(config, resultsByDefault, factor),
    most: mostSearchPrice(config, resultsMax, factor),
  };
}

function callsOf({ providers }: Prices, name: string, num: number): number {
  const kind = providers[name]?.kind;
  return kind && isSearchKind(kind) ? callsFor(searchProviderKinds[kind], num) : 1;
}

function dearer(one: SearchPrice, other: SearchPrice): SearchPrice {
  return {
    listPicos: one.listPicos > other.listPicos ? one.listPicos : other.listPicos,
    upstreamPicos:
      one.upstreamPicos > other.upstreamPicos ? one.upstreamPicos : other.upstreamPicos,
  };
}
