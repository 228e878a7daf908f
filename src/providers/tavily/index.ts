// Tavily: https://docs.tavily.com/documentation/api-reference/endpoint/search (from memory,
// 2026-11-21).
import { bearer } from '../../lib/key-headers.ts';
import { objectOf } from '../../lib/json.ts';
import { postSearch, readPages, type SearchProviderKind } from '../search-provider.ts';

export const tavily: SearchProviderKind = {
  kind: 'tavily',
  // Returns a single page.
  resultsPerCallMax: 20,
  pagesMax: 1,
  writeSearch: ({ query, count }, apiKey) =>
    // The price depends on the depth.
    postSearch(bearer(apiKey), { query, max_results: count, search_depth: 'basic' }),
  readSearch: (body) =>
    readPages(objectOf(body).results, 'results', {
      title: 'title',
      url: 'url',
      snippet: ['content'],
      date: ['published_date'],
      score: 'score',
    }),
  // Its own statuses for a used-up plan or pay-as-you-go limit.
  readFailure: (failure) =>
    failure.status === 432 || failure.status === 433 ? { ...failure, status: 402 } : failure,
};
