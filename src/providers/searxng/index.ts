// SearXNG, which operators host themselves: https://docs.searxng.org/dev/search_api.html (from
// memory, 2026-11-21).
import { bearer } from '../../lib/key-headers.ts';
import { objectOf } from '../../lib/json.ts';
import { readPages, type SearchProviderKind } from '../search-provider.ts';

export const searxng: SearchProviderKind = {
  kind: 'searxng',
  // It takes no count. It returns what its engines found, and the gateway cuts the rest.
  resultsPerCallMax: Number.POSITIVE_INFINITY,
  pagesMax: 1,
  // SearXNG has no keys; a key is for a proxy in front of it.
  writeSearch: ({ query }, apiKey) => ({
    method: 'GET',
    path: `/search?${new URLSearchParams({ q: query, format: 'json' }).toString()}`,
    headers: bearer(apiKey),
    body: null,
  }),
  /**
   * No results while engines did not respond is a failure: they are probably blocked, and another
   * provider may find something.
   */
  readSearch(body) {
    const { results, unresponsive_engines: unresponsive } = objectOf(body);
    const read = readPages(results, 'results', {
      title: 'title',
      url: 'url',
      snippet: ['content'],
      date: ['publishedDate'],
      score: 'score',
    });
    const isFruitless = read.kind === 'found' && read.pages.length === 0;
    if (!isFruitless || !Array.isArray(unresponsive) || unresponsive.length === 0) return read;
    return {
      kind: 'unreadable',
      message: 'it found nothing, and some of its engines did not respond',
    };
  },
  /** SearXNG has no credential, so a 403 means that its operator has not enabled JSON. */
  readFailure(failure) {
    if (failure.status !== 403) return failure;
    return {
      ...failure,
      kind: 'unreadable',
      message: `HTTP 403: is \`json\` among the \`search.formats\` of its settings.yml?`,
    };
  },
};
