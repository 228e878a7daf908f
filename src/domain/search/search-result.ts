// The response of the web search, the same for every provider.
import type { FoundPage, PageSearch } from '../../terms/search-source.ts';
import { readPageAddress } from './page-address.ts';
import { toPlainText } from './plain-text.ts';
import { readPublicationDay } from './publication-day.ts';

export type SearchResult = {
  /** Starts at 1. */
  readonly position: number;
  /** Plain text, like `snippet`. */
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** `2026-01-05`; null when unknown. */
  readonly date: string | null;
  /** The host without `www.`. */
  readonly source: string;
  /** The provider's own relevance score; null when it gives none. */
  readonly score: number | null;
};

/** The response body. `id`: `ws_…`. */
type SearchBody = {
  readonly id: string;
  readonly object: 'search';
  readonly query: string;
  readonly provider: string;
  readonly results: readonly SearchResult[];
  readonly usage: { readonly searches: 1 };
};

const titleCharactersMax = 300;
const snippetCharactersMax = 2_000;

/**
 * Returns pages in order, at most `num`, without duplicates and non-web addresses. `nowMs` is the
 * reference for "2 days ago".
 */
export function toSearchResults(
  pages: readonly FoundPage[],
  { num, nowMs }: Pick<PageSearch, 'num'> & { readonly nowMs: number },
): SearchResult[] {
  const seen = new Set<string>();
  const results: SearchResult[] = [];
  for (const page of pages) {
    if (results.length === num) break;
    const address = readPageAddress(page.url);
    if (!address || seen.has(address.key)) continue;
    seen.add(address.key);
    results.push({
      position: results.length + 1,
      title: toPlainText(page.title, titleCharactersMax) || address.source,
      url: address.url,
      snippet: toPlainText(page.snippet, snippetCharactersMax),
      date: page.date === null ? null : readPublicationDay(page.date, nowMs),
      source: address.source,
      score: page.score,
    });
  }
  return results;
}

export function writeSearchBody({
  id,
  query,
  provider,
  results,
}: Pick<SearchBody, 'id' | 'query' | 'provider' | 'results'>): SearchBody {
  return { id, object: 'search', query, provider, results, usage: { searches: 1 } };
}
