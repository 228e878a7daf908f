// Brave Search: https://api-dashboard.search.brave.com/app/documentation/web-search (from memory,
// 2026-11-21).
import { isObject, objectOf } from '../../lib/json.ts';
import { keyHeader } from '../../lib/key-headers.ts';
import { readPages, type SearchProviderKind } from '../search-provider.ts';

export const brave: SearchProviderKind = {
  kind: 'brave',
  resultsPerCallMax: 20,
  // At most fifty results are requested.
  pagesMax: 3,
  writeSearch({ query, count, page }, apiKey) {
    // `offset` counts pages of `count`, not results.
    const parameters = new URLSearchParams({
      q: query,
      count: String(count),
      offset: String(page),
      result_filter: 'web',
      text_decorations: 'false',
    });
    return {
      method: 'GET',
      path: `/web/search?${parameters.toString()}`,
      headers: keyHeader('x-subscription-token', apiKey),
      body: null,
    };
  },
  readSearch(body) {
    const { web, query } = objectOf(body);
    // When nothing is found, `web` is missing but `query` is present.
    if (web === undefined && isObject(query)) return { kind: 'found', pages: [], hasMore: false };
    const read = readPages(objectOf(web).results, 'web.results', {
      title: 'title',
      url: 'url',
      snippet: ['description'],
      date: ['page_age', 'age'],
    });
    const hasMore = isObject(query) && query.more_results_available === true;
    return read.kind === 'found' ? { ...read, hasMore } : read;
  },
  /** A wrong key is a 422, as is a query that is too long. */
  readFailure(failure, body) {
    const error = objectOf(objectOf(body).error);
    const isKeyRefused = failure.status === 422 && error.code === 'SUBSCRIPTION_TOKEN_INVALID';
    return isKeyRefused ? { ...failure, status: 401 } : failure;
  },
};
