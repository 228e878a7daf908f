// The web search of the gateway: what the configuration says of its providers, joined with what their kinds are. Live keys search through
// these, test keys through the sandbox.
import type { Config } from '../config/schema.ts';
import { isSearchKind } from '../config/known-providers.ts';
import type { Logger } from '../lib/log.ts';
import { searchProviderKinds, searchSandbox } from '../providers/registry.ts';
import { createWebSearcher, type WebSearcher } from '../search/web-searcher.ts';
import { createHttpSource, type SearchProvider } from './http-source.ts';
import { needsOperator } from './upstream-error.ts';
import type { Upstreams } from './upstream.ts';

export type WebSearchers = {
  /** null: no provider is switched on. */
  readonly live: WebSearcher | null;
  readonly test: WebSearcher;
};

export type SearchParts = { readonly config: Config; readonly upstreams: Upstreams; readonly log: Logger };

export function connectSearch({ config, upstreams, log }: SearchParts): WebSearchers {
  const { timeout_ms: timeoutMs } = config.search;
  const [first, ...others] = searchProvidersOf(config).map((provider) => createHttpSource(provider, upstreams));
  const onFailure: Parameters<typeof createWebSearcher>[0]['onFailure'] = (provider, failure) => {
    const fields = { provider, kind: failure.kind, upstream_status: failure.status, reason: failure.message };
    if (needsOperator(failure)) log.error(fields, 'the search provider refuses its credential or wants money');
    else log.warn(fields, 'the search provider failed');
  };
  return {
    live: first ? createWebSearcher({ sources: [first, ...others], timeoutMs, onFailure }) : null,
    test: createWebSearcher({ sources: [searchSandbox], timeoutMs }),
  };
}

function searchProvidersOf({ providers, search }: Config): SearchProvider[] {
  return search.providers.flatMap((name) => {
    const { kind, base_url: baseUrl, api_key: apiKey, timeouts } = providers[name]!;
    return isSearchKind(kind) ? [{ name, kind: searchProviderKinds[kind], baseUrl, apiKey, timeouts }] : [];
  });
}
