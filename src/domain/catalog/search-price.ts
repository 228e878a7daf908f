// The price of a web search that a model's provider runs. In order of precedence: the model's
// price, set by the operator for accounts; the price of the provider's entry, as the provider
// charges it; the published price for the provider's kind.
import { isSearchKind, type SearchKindName } from '../../terms/provider-kind.ts';
import type { SearchToolName } from '../../terms/web-search.ts';
import { kindOfProvider } from '../../config/known-providers.ts';
import type { ProviderConfig } from '../../config/schema.ts';
import { picosFromUsd, type Picos } from '../../lib/money.ts';
import type { Model } from './model.ts';
import { scaleByFactor, type PriceFactor } from './price.ts';

/** The price of one search for an account, and its cost to the operator. */
export type SearchPrice = { readonly listPicos: Picos; readonly upstreamPicos: Picos };

type SearchProvider = Pick<ProviderConfig, 'kind' | 'tool_prices'>;

/** The configured providers, by name. */
export type SearchProviders = Readonly<Record<string, SearchProvider>>;

export type SearchPriceQuery = PriceFactor & {
  readonly model: Pick<Model, 'supports' | 'toolPrices'>;
  readonly provider: SearchProvider;
  readonly tool: SearchToolName;
};

/**
 * Returns null when there is no price or the operator disabled the search with `null`; it must not
 * run then.
 */
export function searchPriceFor({
  model,
  provider,
  tool,
  ...factor
}: SearchPriceQuery): SearchPrice | null {
  const configuredUsd = provider.tool_prices[tool];
  const upstreamUsd =
    configuredUsd === undefined ? publishedUsd(provider.kind, model, tool) : configuredUsd;
  const statedUsd = model.toolPrices[tool];
  const usd = statedUsd === undefined ? upstreamUsd : statedUsd;
  if (usd === null) return null;
  return {
    listPicos: scaleByFactor(picosFromUsd(usd), factor, { isListPrice: statedUsd !== undefined }),
    upstreamPicos: picosFromUsd(upstreamUsd ?? usd),
  };
}

/** Returns the highest price of one search over the routes; null when none of them sells it. */
export function highestSearchPicos({
  routes,
  providers,
  ...query
}: Omit<SearchPriceQuery, 'provider'> & {
  readonly routes: Model['routes'];
  readonly providers: SearchProviders;
}): Picos | null {
  let highest: Picos | null = null;
  for (const { provider: name } of routes) {
    const kind = kindOfProvider(providers, name);
    const price =
      kind && searchPriceFor({ ...query, provider: { tool_prices: {}, ...providers[name], kind } });
    if (price && (highest === null || price.listPicos > highest)) highest = price.listPicos;
  }
  return highest;
}

/**
 * A request to the search endpoint: `num` results, found with `calls` provider calls. `provider`
 * null is the sandbox.
 */
export type EndpointSearch = {
  readonly provider: Pick<ProviderConfig, 'kind' | 'tool_prices'> | null;
  readonly num: number;
  readonly calls: number;
};

/**
 * Returns the price of a search: the operator's in USD (`statedUsd`), without markup. When that is
 * null, it is the provider's price per call, as configured or else as published.
 */
export function endpointSearchPrice(
  { provider, num, calls }: EndpointSearch,
  { statedUsd, ...factor }: PriceFactor & { readonly statedUsd: number | null },
): SearchPrice {
  const callUsd = provider?.tool_prices.web_search ?? null;
  const billedPicos =
    callUsd === null
      ? publishedPicos(provider, { num, calls })
      : picosFromUsd(callUsd) * BigInt(calls);
  const pricePicos =
    statedUsd === null ? (billedPicos ?? picosFromUsd(ownSearchUsd)) : picosFromUsd(statedUsd);
  const listPicos = scaleByFactor(pricePicos, factor, { isListPrice: statedUsd !== null });
  return { listPicos, upstreamPicos: billedPicos ?? 0n };
}

function publishedPicos(
  provider: EndpointSearch['provider'],
  asked: Pick<EndpointSearch, 'num' | 'calls'>,
): Picos | null {
  return provider && isSearchKind(provider.kind) ? endpointPicos[provider.kind](asked) : null;
}

/** The price of searches without a provider's bill: SearXNG's and the sandbox's. */
const ownSearchUsd = 0.005;

/**
 * Published pay-as-you-go prices, read 2026-11-23; null when nobody bills the search.
 *
 * Brave: https://api-dashboard.search.brave.com/app/plans, each page of results is a request.
 *
 * Tavily: https://docs.tavily.com/documentation/api-credits, a search of depth `basic` is one
 * credit.
 *
 * Serper: https://serper.dev, its smallest package; more than ten results are two credits (from
 * memory, to be checked).
 *
 * Exa: https://exa.ai/docs/reference/pricing, ten results and their highlights are included.
 */
const endpointPicos: Readonly<
  Record<SearchKindName, (asked: Pick<EndpointSearch, 'num' | 'calls'>) => Picos | null>
> = {
  brave: ({ calls }) => picosFromUsd(0.005) * BigInt(calls),
  tavily: () => picosFromUsd(0.008),
  serper: ({ num }) => picosFromUsd(num > 10 ? 0.002 : 0.001),
  exa: ({ num }) => picosFromUsd(0.007) + picosFromUsd(0.001) * BigInt(Math.max(num - 10, 0)),
  searxng: () => null,
};

/**
 * USD per search. Both publish $10 per 1 000 searches. OpenAI's preview costs $25 on models without
 * reasoning, with free result tokens. Read on sites that quote platform.claude.com/docs and
 * platform.openai.com/docs/pricing, 2026-11-21: to be checked there.
 */
function publishedUsd(
  kind: ProviderConfig['kind'],
  { supports }: SearchPriceQuery['model'],
  tool: SearchToolName,
): number | null {
  if (kind === 'openai') return tool === 'web_search_preview' && !supports.thinking ? 0.025 : 0.01;
  return kind === 'anthropic' && tool === 'web_search' ? 0.01 : null;
}
