// Decides which tools the gateway itself runs for a request, because the provider of a route has none.
import { freePrice } from '../../terms/price-terms.ts';
import { searchesByDefault, searchModelId } from '../../terms/web-search.ts';
import { priceAt, type PriceFactor } from '../../domain/catalog/price.ts';
import { hostedTools } from '../../formats/registry.ts';
import { resultsByDefault } from '../../domain/search/search-request.ts';
import { offerImages } from './own-images.ts';
import { priceFactorFor } from './price-factor.ts';
import {
  imageTokens,
  readSearch,
  resultTokens,
  withReadings,
  type AskedTools,
} from './asked-tools.ts';
import type { ChosenRoute } from './route.ts';
import type { ModelRequest } from './write-request.ts';

type Query = Omit<ModelRequest, 'forwardable' | 'sessionId' | 'conversation'> & {
  readonly route: ChosenRoute;
};

/**
 * Returns the tools that run beside the model of a route: the provider's, or else our search and our
 * images; null: none.
 */
export function findTools(query: Query, factor: PriceFactor): AskedTools | null {
  const tools = findPricedTools(query, factor);
  return tools?.own ? tools : withReadings(query, tools);
}

function findPricedTools(query: Query, factor: PriceFactor): AskedTools | null {
  const { format, route, request } = query;
  const offered = readSearch(query, factor);
  const isLacking = route.kind.isOpenAi && format.relay.lacksSearch?.(route.upstreamModel);
  const wantsImages = (hostedTools[format.name].readImages?.(request) ?? null) !== null;
  const isOffered = offered !== null && !isLacking;
  if (isOffered && !wantsImages) return offered;
  const own = readOwnTools(query);
  // The two kinds do not run together.
  return isOffered && !own?.own?.images ? offered : (own ?? offered);
}

/**
 * Returns the tools at their prices, that of a search as it is shown for one; null when there are
 * none to run. All calls of the model must have one price, because they are charged as one.
 */
function readOwnTools(query: Query): AskedTools | null {
  const { gateway, key, model, route, format, request, estimate } = query;
  if (request.tier || route.lacks.has('tools')) return null;
  const hosted = hostedTools[format.name];
  const offer = gateway.hosts.searchers.offerOwn(
    key.mode,
    priceFactorFor(gateway, key, searchModelId),
  );
  const search = offer && hosted.readSearch(request);
  const drawing = hosted.readImages?.(request) ?? null;
  const images = drawing && offerImages(gateway, key, drawing);
  if (!search && !images) return null;
  const searchesMax = search ? (search.searchesMax ?? searchesByDefault) : 0;
  const given = searchesMax * resultTokens.upper + (images?.imagesMax ?? 0) * imageTokens;
  const inputMost = estimate.upper + given + model.maxOutputTokens;
  const price = priceAt(model, gateway.clock.nowMs());
  const tiers = price ? [price, ...price.variants].flatMap((set) => set.tiers) : [];
  const isTiered = tiers.some((tier) => tier.aboveInputTokens < inputMost);
  if (isTiered) return null;
  const isLimited = (search?.searchesMax ?? drawing?.imagesMax ?? null) !== null;
  return {
    searchesMax,
    price: search ? offer.price : freePrice,
    billsResults: false,
    mayBeFewer: !isLimited && Math.max(searchesMax, images?.imagesMax ?? 0) > 1,
    limitField: search?.limitField ?? drawing?.limitField ?? null,
    own: {
      search: search && {
        ...offer,
        ...(search.sites && { sites: search.sites }),
        pages: search.pages ?? resultsByDefault,
      },
      images,
    },
  };
}
