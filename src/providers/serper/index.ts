// Serper, Google's results: https://serper.dev (from memory of its playground, 2026-11-21).
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

export const serper: SearchProviderKind = {
  kind: 'serper',
  resultsPerCallMax: 100,
  pagesMax: 1,
  writeSearch,
  readSearch,
  readFailure,
};

function writeSearch({ query, count }: SearchPage, apiKey: string | null): SearchCall {
  return postSearch(apiKey === null ? {} : { 'x-api-key': apiKey }, { q: query, num: count });
}

/** When nothing is found, `organic` may be missing but `searchParameters` is present. */
function readSearch(body: unknown): ReadSearch {
  const { organic, searchParameters } = isObject(body) ? body : {};
  if (organic === undefined && isObject(searchParameters))
    return { kind: 'found', pages: [], hasMore: false };
  return readPages(organic, 'organic', {
    title: 'title',
    url: 'link',
    snippet: ['snippet'],
    date: ['date'],
  });
}

/** Used-up credits are a 400 here. The operator must fix that, not the client. */
function readFailure(failure: UpstreamFailure, body: unknown): UpstreamFailure {
  const message = isObject(body) && typeof body.message === 'string' ? body.message : '';
  return failure.status === 400 && /credit/i.test(message) ? { ...failure, status: 402 } : failure;
}
