// A web search at one price, whatever it finds.
import { ApiError } from '../../canonical/errors.ts';
import { searchModelId, searchModelName } from '../../terms/web-search.ts';
import type { PriceFactor } from '../../domain/catalog/price.ts';
import type { SearchPrice } from '../../domain/catalog/search-price.ts';
import type { JsonObject } from '../../lib/json.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { parseSearchRequest } from '../../domain/search/search-request.ts';
import { writeSearchBody } from '../../domain/search/search-result.ts';
import type { IncomingRequest } from '../request.ts';
import type { Sale } from '../stages.ts';
import type { Gateway } from '../gateway.ts';
import { saleOfUnits, type Delivery, type UnitsForSale } from './units.ts';
import { priceFactorFor } from '../routing/price-factor.ts';
import { mostSearchPrice, searchPriceOf } from '../search/search-prices.ts';
import type { LostCalls, WebSearch, WebSearcher } from '../search/web-searcher.ts';
import type { StopSignals } from '../calling/call-route.ts';
import { toApiError } from '../calling/failure-message.ts';

/**
 * Throws ApiError `upstream_unavailable` when no provider is configured or searches are not sold.
 */
export function searchEndpoint(gateway: Gateway, incoming: IncomingRequest): Sale {
  const { key, record } = incoming.caller;
  const asked = { ...parseSearchRequest(incoming.body), record };
  const isTest = key.mode === 'test';
  const searcher = isTest ? gateway.hosts.searchers.test : gateway.hosts.searchers.live;
  if (!searcher) throw notConfigured();
  const provider = isTest ? 'sandbox' : 'search';
  const route = gateway.config.search.providers.join(' ');
  return saleOfUnits(
    {
      modelId: searchModelId,
      provider,
      route,
      headers: {},
      body: incoming.body as JsonObject,
      prompt: () => asked.query,
    },
    () => {
      const factor = priceFactorFor(gateway, key, searchModelId);
      const search = { gateway, asked, searcher, factor, provider };
      return { units: unitsOf(search), deliver: ({ run }) => deliver(search, run) };
    },
  );
}

type Search = {
  readonly gateway: Gateway;
  readonly asked: WebSearch;
  readonly searcher: WebSearcher;
  readonly factor: PriceFactor;
  readonly provider: string;
};

function unitsOf(search: Search): UnitsForSale {
  const most = mostOf(search);
  if (!most) throw notConfigured();
  return {
    endpoint: 'web-search',
    modelName: searchModelName,
    unit: { one: 'search', many: 'searches', counted: 'search' },
    count: 1,
    most,
    likelyPicos: most.upstreamPicos,
    countField: null,
  };
}

/** The sandbox has one price, whatever is configured. */
function mostOf({
  gateway: { config },
  asked: { num },
  factor,
  provider,
}: Search): SearchPrice | null {
  if (provider === 'sandbox') return searchPriceOf(config, { provider, num, calls: 1 }, factor);
  return mostSearchPrice(config, num, factor);
}

async function deliver(
  { gateway, asked, searcher, factor }: Search,
  signals: StopSignals,
): Promise<Delivery> {
  const answer = await searcher.search(asked, signals);
  const priceOf = (called: LostCalls) =>
    searchPriceOf(gateway.config, { ...called, num: asked.num }, factor)!;
  const lostPicos = answer.lost.reduce((sum, called) => sum + priceOf(called).upstreamPicos, 0n);
  if (answer.kind === 'failure')
    return { kind: 'failed', error: toApiError(answer.failure), lostPicos };
  const { provider, calls, results } = answer;
  return {
    kind: 'delivered',
    count: 1,
    price: priceOf({ provider, calls }),
    provider,
    calls: 1,
    isWhole: true,
    body: writeSearchBody({ id: newIdWithPrefix('ws'), query: asked.query, provider, results }),
    headers: {},
    usableForMs: null,
    lostPicos,
  };
}

function notConfigured(): ApiError {
  return new ApiError(
    'upstream_unavailable',
    'Web search is not switched on here. The operator switches it on with a provider, for example by BRAVE_API_KEY or TAVILY_API_KEY in the ' +
      'environment, and with a `search.price_usd` that is not null. Nothing was charged.',
  );
}
