// Web searches that a request's provider runs: their maximum, their price, and the input they add.
import { searchPriceFor, type SearchPrice } from '../../domain/catalog/search-price.ts';
import type { OwnSearch } from '../search/search-sources.ts';
import type { ClientFormat, ClientRequest } from '../../formats/format.ts';
import type { SearchSites } from '../../formats/search-sites.ts';
import type { Model } from '../../domain/catalog/model.ts';
import type { PriceFactor } from '../../domain/catalog/price.ts';
import { searchesByDefault } from '../../terms/web-search.ts';
import type { ChosenRoute } from './route.ts';

export type AskedSearch = {
  /** The limit that is sent upstream, and held. */
  readonly searchesMax: number;
  readonly price: SearchPrice;
  /** The tokens of its results are billed beside its price. */
  readonly billsResults: boolean;
  /** The caller set no limit: when that many cannot be held, one search is enough. */
  readonly mayBeFewer: boolean;
  /** The field with which the caller can allow fewer; null: none. */
  readonly limitField: string | null;
  /** Absent: the provider runs it. */
  readonly own?: OwnSearch;
  /** What its own search is limited to. Absent: nothing. */
  readonly sites?: SearchSites;
  /** The most pages of its own search. */
  readonly pages?: number;
};

type SearchQuery = {
  readonly model: Model;
  readonly route: ChosenRoute;
  readonly format: ClientFormat;
  readonly request: ClientRequest;
};

/**
 * Returns null when no search is asked for, or none that has a price there (writing the request
 * refuses it then). Throws ApiError for an impossible limit.
 */
export function readSearch(
  { model, route, format, request }: SearchQuery,
  factor: PriceFactor,
): AskedSearch | null {
  if (route.format !== format.name) return null;
  const tool = format.relay.searchTool(request);
  if (!tool) return null;
  const price = searchPriceFor({
    ...factor,
    model,
    provider: route.provider.pricing,
    tool: tool.name,
  });
  const searchesMax = tool.searchesMax ?? searchesByDefault;
  return (
    price && {
      searchesMax,
      price,
      // OpenAI's dearer preview search includes them:
      // https://openai.com/api/pricing (built-in tools), from memory, 2026-11-26.
      billsResults: tool.name !== 'web_search_preview' || model.supports.thinking,
      mayBeFewer: tool.searchesMax === null && searchesMax > 1,
      limitField: tool.limitField,
    }
  );
}

/**
 * Input that one search adds. Measured: 3,700 to 8,500 tokens at OpenAI (recorded answers of 2026),
 * which bills 8,000 a search on its small models in any case.
 */
export const resultTokens = { upper: 10_000, likely: 6_000 } as const;

type Read = { readonly promptTokens: number; readonly contextTokens: number };

/** Returns the most input that a request is billed for. */
export function inputTokensWithSearches(search: AskedSearch | null, read: Read): number {
  return readTokens(search?.searchesMax ?? 0, resultTokens.upper, read);
}

/** Returns the input that a request is probably billed for after that many searches. */
export function likelyInputTokensAfter(searches: number, read: Read): number {
  return readTokens(searches, resultTokens.likely, read);
}

/**
 * Every search is a round of its own: the model reads the prompt and all results so far again, and
 * each reading is billed. No round reads more than the context.
 */
function readTokens(
  searches: number,
  tokensOfResult: number,
  { promptTokens, contextTokens }: Read,
): number {
  let sum = 0;
  for (let round = 0; round <= searches; round++) {
    sum += Math.min(promptTokens + round * tokensOfResult, contextTokens);
  }
  return sum;
}
