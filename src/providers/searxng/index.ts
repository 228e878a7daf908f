// SearXNG, which operators run themselves: https://docs.searxng.org/dev/search_api.html (from memory of it, 2026-11-21).
import type { UpstreamFailure } from '../../canonical/event.ts';
import { isObject } from '../../lib/json.ts';
import { readPages, type ReadSearch, type SearchCall, type SearchPage, type SearchProviderKind } from '../search-provider.ts';

export const searxng: SearchProviderKind = {
  kind: 'searxng',
  // It takes no count: it gives what its engines gave, and the rest is cut.
  resultsPerCallMax: Number.POSITIVE_INFINITY,
  pagesMax: 1,
  writeSearch,
  readSearch,
  readFailure,
};

/** A key is for a proxy before it that wants one; it has none of its own. */
function writeSearch({ query }: SearchPage, apiKey: string | null): SearchCall {
  return {
    method: 'GET',
    path: `/search?${new URLSearchParams({ q: query, format: 'json' }).toString()}`,
    headers: apiKey === null ? {} : { authorization: `Bearer ${apiKey}` },
    body: null,
  };
}

/** Nothing found while engines did not respond is no answer: they are blocked, most likely, and another provider may know better. */
function readSearch(body: unknown): ReadSearch {
  const { results, unresponsive_engines: unresponsive } = isObject(body) ? body : {};
  const pages = readPages(results, {
    title: 'title',
    url: 'url',
    snippet: ['content'],
    date: ['publishedDate'],
    score: 'score',
  });
  if (!pages) return { kind: 'unreadable', message: 'the answer has no `results`' };
  if (pages.length === 0 && Array.isArray(unresponsive) && unresponsive.length > 0) {
    return { kind: 'unreadable', message: 'it found nothing, and some of its engines did not respond' };
  }
  return { kind: 'found', pages, hasMore: false };
}

/** It has no credential to refuse: JSON is what it refuses until its operator allows it. */
function readFailure(failure: UpstreamFailure): UpstreamFailure {
  if (failure.status !== 403) return failure;
  return { ...failure, kind: 'unreadable', message: `HTTP 403: is \`json\` among the \`search.formats\` of its settings.yml?` };
}
