// Decides whether the gateway's own search serves a request, because the provider of a route has none.
import { searchesByDefault, searchModelId } from '../../terms/web-search.ts';
import { priceAt, type PriceFactor } from '../../domain/catalog/price.ts';
import { hostedSearches } from '../../formats/registry.ts';
import { resultsByDefault } from '../../domain/search/search-request.ts';
import { priceFactorFor } from './price-factor.ts';
import { readSearch, resultTokens, type AskedSearch } from './provider-search.ts';
import type { ChosenRoute } from './route.ts';
import type { ModelRequest } from './write-request.ts';

type Query = Omit<ModelRequest, 'forwardable' | 'sessionId'> & { readonly route: ChosenRoute };

/** Returns the search of a route: the provider's, or else ours; null: none. */
export function findSearch(query: Query, factor: PriceFactor): AskedSearch | null {
  const { format, route } = query;
  const offered = readSearch(query, factor);
  const isLacking = route.kind.isOpenAi && format.relay.lacksSearch?.(route.upstreamModel);
  return offered && !isLacking ? offered : (readOwnSearch(query) ?? offered);
}

/**
 * Returns the search at the price that is shown for one; null when there is none to run. All calls
 * of the model must have one price, because they are charged as one.
 */
function readOwnSearch(query: Query): AskedSearch | null {
  const { gateway, key, model, route, format, request, estimate } = query;
  const { clock } = gateway;
  const { searchers } = gateway.hosts;
  if (request.tier || route.lacks.has('tools')) return null;
  const offer = searchers.offerOwn(key.mode, priceFactorFor(gateway, key, searchModelId));
  const tool = offer && hostedSearches[format.name].readTool(request);
  if (!tool) return null;
  const searchesMax = tool.searchesMax ?? searchesByDefault;
  const inputMost = estimate.upper + searchesMax * resultTokens.upper + model.maxOutputTokens;
  const price = priceAt(model, clock.nowMs());
  const tiers = price ? [price, ...price.variants].flatMap((set) => set.tiers) : [];
  if (tiers.some((tier) => tier.aboveInputTokens < inputMost)) return null;
  return {
    searchesMax,
    price: offer.price,
    billsResults: false,
    mayBeFewer: tool.searchesMax === null && searchesMax > 1,
    limitField: tool.limitField,
    own: offer,
    ...(tool.sites && { sites: tool.sites }),
    pages: tool.pages ?? resultsByDefault,
  };
}
