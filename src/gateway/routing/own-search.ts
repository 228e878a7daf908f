// Decides whether the gateway's own search serves a request, because the provider of a route has none.
import { searchesByDefault, searchModelId } from '../../terms/web-search.ts';
import { priceAt } from '../../domain/catalog/price.ts';
import { hostedSearches } from '../../formats/registry.ts';
import { priceFactorFor } from './price-factor.ts';
import { resultTokens, type AskedSearch } from './provider-search.ts';
import type { ChosenRoute } from './route.ts';
import type { ModelRequest } from './write-request.ts';

type Query = Omit<ModelRequest, 'forwardable' | 'sessionId'> & { readonly route: ChosenRoute };

/**
 * Returns the search at the price that is shown for one; null when there is none to run. All calls
 * of the model must have one price, because they are charged as one.
 */
export function readOwnSearch(query: Query): AskedSearch | null {
  const { gateway, key, model, route, format, request, estimate } = query;
  const { clock } = gateway;
  const { searchers } = gateway.hosts;
  const hosted = hostedSearches[format.name];
  if (!hosted || route.format === format.name || request.tier) return null;
  const offer = searchers.offerOwn(key.mode, priceFactorFor(gateway, key, searchModelId));
  const tool = offer && hosted.readTool(request);
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
  };
}
