// The web search that a request asks its provider to run: how many searches it may come to, at what price, and the input they bring.
import { searchPriceFor, type SearchPrice } from '../catalog/search-price.ts';
import type { PriceFactor } from '../catalog/price.ts';
import type { Gateway } from './gateway.ts';
import type { ChosenRoute } from './route.ts';
import type { Asked } from './running.ts';

export type AskedSearch = {
  /** What is sent upstream as the limit, and held. */
  readonly searchesMax: number;
  readonly price: SearchPrice;
  /** The caller gave no limit: where that many cannot be held, one search will do. */
  readonly mayBeFewer: boolean;
  /** The field by which the caller can allow fewer; null: it cannot. */
  readonly limitField: string | null;
};

/** null: no search is asked for, or none that has a price there: writing the request refuses it then. Throws ApiError on a limit that cannot be. */
export function readSearch(
  { config }: Gateway,
  { model, route, format, request }: Pick<Asked, 'model' | 'format' | 'request'> & { readonly route: ChosenRoute },
  factor: PriceFactor,
): AskedSearch | null {
  if (route.transport !== 'http' || route.format !== format.name) return null;
  const tool = format.relay.searchTool(request);
  if (!tool) return null;
  const provider = config.providers[route.provider.name]!;
  const price = searchPriceFor({ ...factor, model, provider, tool: tool.name });
  const searchesMax = tool.searchesMax ?? config.limits.default_max_searches;
  return price && { searchesMax, price, mayBeFewer: tool.searchesMax === null && searchesMax > 1, limitField: tool.limitField };
}

/**
 * An upper estimate of what one search adds to the input. Measured: 3 700 to 8 500 tokens at OpenAI (recorded answers of 2026), which
 * bills its small models 8 000 a search whatever came.
 */
const resultTokens = 10_000;

/**
 * The most input that a request is billed for. Every search is a round of its own: the model reads the prompt and all results so far
 * once more, and each reading is billed. No round reads more than the context.
 */
export function inputTokensWithSearches(
  search: AskedSearch | null,
  { promptTokensUpper, contextTokens }: { readonly promptTokensUpper: number; readonly contextTokens: number },
): number {
  let sum = 0;
  for (let round = 0; round <= (search?.searchesMax ?? 0); round++) {
    sum += Math.min(promptTokensUpper + round * resultTokens, contextTokens);
  }
  return sum;
}
