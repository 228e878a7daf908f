// What one search of the web costs that a provider runs itself. In order: the price of the model, which the operator stated as accounts
// pay it; that of the provider's entry, as the provider charges it; the published one of the provider's kind.
import type { SearchToolName } from '../canonical/web-search.ts';
import type { ProviderConfig } from '../config/schema.ts';
import { picosFromUsd, type Picos } from '../lib/money.ts';
import type { Model } from './model.ts';
import { scaleByFactor, type PriceFactor } from './price.ts';

/** The price of one search as an account pays it and as the operator does. */
export type SearchPrice = { readonly listPicos: Picos; readonly upstreamPicos: Picos };

export type SearchPriceQuery = PriceFactor & {
  readonly model: Pick<Model, 'supports' | 'toolPrices'>;
  readonly provider: Pick<ProviderConfig, 'kind' | 'tool_prices'>;
  readonly tool: SearchToolName;
};

/** null: nothing prices it, or the operator has switched it off with `null`, so it must not run. */
export function searchPriceFor({ model, provider, tool, ...factor }: SearchPriceQuery): SearchPrice | null {
  const ofProvider = provider.tool_prices[tool];
  const upstreamUsd = ofProvider === undefined ? publishedUsd(provider.kind, model, tool) : ofProvider;
  const statedUsd = model.toolPrices[tool];
  const usd = statedUsd === undefined ? upstreamUsd : statedUsd;
  if (usd === null) return null;
  return {
    listPicos: scaleByFactor(picosFromUsd(usd), factor, { isListPrice: statedUsd !== undefined }),
    upstreamPicos: picosFromUsd(upstreamUsd ?? usd),
  };
}

/** The price of a search by the endpoint of its own, which the operator states in USD: no markup is added. */
export function endpointSearchPicos(priceUsd: number, multiplierPpm: number): Picos {
  return scaleByFactor(picosFromUsd(priceUsd), { markup: 1, multiplierPpm }, { isListPrice: true });
}

/**
 * USD a search. Both publish $10 per 1 000 searches; OpenAI's preview is $25 on models that do not think, with the tokens of its results
 * free. Read on other sites that quote platform.claude.com/docs and platform.openai.com/docs/pricing, 2026-11-21: to be checked there.
 */
function publishedUsd(
  kind: ProviderConfig['kind'],
  { supports }: SearchPriceQuery['model'],
  tool: SearchToolName,
): number | null {
  if (kind === 'openai') return tool === 'web_search_preview' && !supports.thinking ? 0.025 : 0.01;
  return kind === 'anthropic' && tool === 'web_search' ? 0.01 : null;
}
