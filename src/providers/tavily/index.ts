// Tavily: https://docs.tavily.com/documentation/api-reference/endpoint/search (from memory,
// 2026-11-21).
import type { UpstreamFailure } from '../../canonical/event.ts';
import { isObject } from '../../lib/json.ts';
import {
  postSearch,
  readPages,
  type ReadSearch,
  type SearchCall,
  type SearchPage,
  type SearchProviderKind,
} from '../search-provider.ts';

export const tavily: SearchProviderKind = {
  kind: 'tavily',
  // Returns a single page.
  resultsPerCallMax: 20,
  pagesMax: 1,
  writeSearch,
  readSearch,
  readFailure,
};

function writeSearch({ query, count }: SearchPage, apiKey: string | null): SearchCall {
  // The price depends on the depth.
  return postSearch(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }, {
    query,
    max_results: count,
    search_depth: 'basic',
  });
}

function readSearch(body: unknown): ReadSearch {
  return readPages(isObject(body) ? body.results : null, 'results', {
    title: 'title',
    url: 'url',
    snippet: ['content'],
    date: ['published_date'],
    score: 'score',
  });
}

/** Tavily's own statuses for a used-up plan or pay-as-you-go limit. */
function readFailure(failure: UpstreamFailure): UpstreamFailure {
  return failure.status === 432 || failure.status === 433 ? { ...failure, status: 402 } : failure;
}
