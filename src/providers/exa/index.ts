// Exa: https://exa.ai/docs/search/quickstart (read 2026-11-21). Up to 100 results, no further
// pages.
import { isObject } from '../../lib/json.ts';
import {
  readPages,
  type ReadSearch,
  type SearchCall,
  type SearchPage,
  type SearchProviderKind,
} from '../search-provider.ts';

export const exa: SearchProviderKind = {
  kind: 'exa',
  resultsPerCallMax: 100,
  pagesMax: 1,
  writeSearch,
  readSearch,
};

/**
 * Asks for `highlights`, the passages that fit the query; without `contents`, results are titles
 * only.
 */
function writeSearch({ query, count }: SearchPage, apiKey: string | null): SearchCall {
  return {
    method: 'POST',
    path: '/search',
    headers: apiKey === null ? {} : { 'x-api-key': apiKey },
    body: JSON.stringify({ query, numResults: count, contents: { highlights: true } }),
  };
}

function readSearch(body: unknown): ReadSearch {
  const pages = readPages(isObject(body) ? body.results : null, {
    title: 'title',
    url: 'url',
    snippet: ['highlights', 'summary', 'text'],
    date: ['publishedDate'],
    score: 'score',
  });
  return pages
    ? { kind: 'found', pages, hasMore: false }
    : { kind: 'unreadable', message: 'the answer has no `results`' };
}
