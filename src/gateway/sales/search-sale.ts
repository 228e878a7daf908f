// A web search at one price, whatever it finds.
import { ApiError } from '../../canonical/errors.ts';
import { searchModelId, searchModelName } from '../../terms/web-search.ts';
import type { JsonObject } from '../../lib/json.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { parseSearchRequest } from '../../domain/search/search-request.ts';
import { writeSearchBody } from '../../domain/search/search-result.ts';
import type { IncomingRequest } from '../request.ts';
import type { HeldRequest, Sale } from '../stages.ts';
import type { Gateway } from '../gateway.ts';
import { saleOfUnits, type Delivery, type UnitsForSale } from './units.ts';
import { priceFactorFor } from '../routing/price-factor.ts';
import { mostSearchPrice, searchPriceOf } from '../search/search-prices.ts';
import type { LostCalls } from '../search/web-searcher.ts';
import { toApiError } from '../calling/failure-message.ts';

/**
 * Throws ApiError `upstream_unavailable` when no provider is configured or searches are not sold.
 */
export function searchEndpoint(gateway: Gateway, incoming: IncomingRequest): Sale {
  const { key, record } = incoming.caller;
  const { config, hosts } = gateway;
  const asked = { ...parseSearchRequest(incoming.body), record };
  const { query, num } = asked;
  const isTest = key.mode === 'test';
  const searcher = isTest ? hosts.searchers.test : hosts.searchers.live;
  if (!searcher) throw notConfigured();
  const facts = {
    modelId: searchModelId,
    provider: isTest ? 'sandbox' : 'search',
    route: config.search.providers.join(' '),
    headers: {},
    body: incoming.body as JsonObject,
    prompt: () => query,
  };
  return saleOfUnits(facts, () => {
    const factor = priceFactorFor(gateway, key, searchModelId);
    const priceOf = (called: LostCalls) => searchPriceOf(config, { ...called, num }, factor);
    // The sandbox has one price, whatever is configured.
    const most = isTest
      ? priceOf({ provider: 'sandbox', calls: 1 })
      : mostSearchPrice(config, num, factor);
    if (!most) throw notConfigured();
    const units: UnitsForSale = {
      endpoint: 'web-search',
      modelName: searchModelName,
      unit: { one: 'search', many: 'searches', counted: 'search' },
      count: 1,
      most,
      likelyPicos: most.upstreamPicos,
      countField: null,
    };
    return { units, deliver };

    async function deliver({ running }: HeldRequest): Promise<Delivery> {
      const answer = await searcher!.search(asked, running.run);
      const lostPicos = answer.lost.reduce((sum, lost) => sum + priceOf(lost)!.upstreamPicos, 0n);
      if (answer.kind === 'failure')
        return { kind: 'failed', error: toApiError(answer.failure), lostPicos };
      const { provider, calls, results } = answer;
      return {
        kind: 'delivered',
        count: 1,
        price: priceOf({ provider, calls })!,
        provider,
        calls: 1,
        isWhole: true,
        body: writeSearchBody({ id: newIdWithPrefix('ws'), query, provider, results }),
        headers: {},
        usableForMs: null,
        lostPicos,
      };
    }
  });
}

function notConfigured(): ApiError {
  return new ApiError(
    'upstream_unavailable',
    'Web search is not switched on here. The operator switches it on with a provider, for example by BRAVE_API_KEY or TAVILY_API_KEY in the ' +
      'environment, and with a `search.price_usd` that is not null. Nothing was charged.',
  );
}
