// The response of the web search, the same for every provider.
import type { FoundPage, PageSearch } from '../../terms/search-source.ts';
import { toPlainText } from './plain-text.ts';
import { readPublicationDay } from './publication-day.ts';
import { withoutTrailing } from '../../lib/without-trailing.ts';

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

type PageAddress = {
  readonly url: string;
  /** The host without `www.`. */
  readonly source: string;
  /** Equal for addresses of the same page. */
  readonly key: string;
};

const charactersMax = 8_000;
const trackingParameters = /^(?:utm_.*|gclid|fbclid|msclkid)$/i;

/** Returns null for anything but an http or https address. */
export function readPageAddress(text: string): PageAddress | null {
  const written = text.trim();
  const url = written.length > charactersMax ? null : URL.parse(written);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  return {
    // Unchanged, unless it contains characters that need encoding.
    url: /^https?:\/\/[^\s\p{Cc}\\]+$/u.test(written) ? written : url.href,
    source: url.hostname.replace(/^www\./u, ''),
    key: keyOf(url),
  };
}

/**
 * Parsing already lower-cases the host and drops a default port. The key also ignores the scheme, a
 * trailing slash, the fragment, and tracking parameters.
 */
function keyOf(url: URL): string {
  const parameters = [...url.searchParams].filter(([name]) => !trackingParameters.test(name));
  return `${url.host}${withoutTrailing(url.pathname, '/')}?${new URLSearchParams(parameters).toString()}`;
}
