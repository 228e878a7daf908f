// Serper, Google's results: https://serper.dev (from memory of its playground, 2026-11-21).
import { isObject, objectOf, textOf } from '../../lib/json.ts';
import { keyHeader } from '../../lib/key-headers.ts';
import { postSearch, readPages, type SearchProviderKind } from '../search-provider.ts';

export const serper: SearchProviderKind = {
  kind: 'serper',
  resultsPerCallMax: 100,
  pagesMax: 1,
  writeSearch: ({ query, count }, apiKey) =>
    postSearch(keyHeader('x-api-key', apiKey), { q: query, num: count }),
  readSearch(body) {
    const { organic, searchParameters } = objectOf(body);
    // When nothing is found, `organic` may be missing but `searchParameters` is present.
    if (organic === undefined && isObject(searchParameters))
      return { kind: 'found', pages: [], hasMore: false };
    return readPages(organic, 'organic', {
      title: 'title',
      url: 'link',
      snippet: ['snippet'],
      date: ['date'],
    });
  },
  /** Used-up credits are a 400 here. The operator must fix that, not the client. */
  readFailure(failure, body) {
    const message = textOf(objectOf(body).message);
    const isEmpty = failure.status === 400 && /credit/i.test(message);
    return isEmpty ? { ...failure, status: 402 } : failure;
  },
};
