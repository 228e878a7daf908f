// Exa: https://exa.ai/docs/search/quickstart (read 2026-11-21). Up to 100 results, no further
// pages.
import { keyHeader } from '../../lib/key-headers.ts';
import { objectOf } from '../../lib/json.ts';
import { postSearch, readPages, type SearchProviderKind } from '../search-provider.ts';

export const exa: SearchProviderKind = {
  kind: 'exa',
  resultsPerCallMax: 100,
  pagesMax: 1,
  // `highlights` are the passages that fit the query; without `contents`, results are titles only.
  writeSearch: ({ query, count }, apiKey) =>
    postSearch(keyHeader('x-api-key', apiKey), {
      query,
      numResults: count,
      contents: { highlights: true },
    }),
  readSearch: (body) =>
    readPages(objectOf(body).results, 'results', {
      title: 'title',
      url: 'url',
      snippet: ['highlights', 'summary', 'text'],
      date: ['publishedDate'],
      score: 'score',
    }),
};
