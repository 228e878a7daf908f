// What a provider of web searches is: how a search is written for it and its answer read, as data and pure functions.
// A new one is one folder and one line in registry.ts.
import type { UpstreamFailure } from '../canonical/event.ts';
import type { FoundPage } from '../canonical/search-source.ts';
import { isObject } from '../lib/json.ts';

export type SearchProviderKind = {
  readonly kind: string;
  /** The most results of one call. */
  readonly resultsPerCallMax: number;
  /** How many calls a search may be made of, each for the next page of results. */
  readonly pagesMax: number;
  readonly writeSearch: (search: SearchPage, apiKey: string | null) => SearchCall;
  readonly readSearch: (body: unknown) => ReadSearch;
  /** What the provider's own errors mean, where the status alone misleads. `body`: parsed JSON, or text where it was none. */
  readonly readFailure?: (failure: UpstreamFailure, body: unknown) => UpstreamFailure;
};

/** One page of results: `count` of them, after `page` pages of as many. */
export type SearchPage = { readonly query: string; readonly count: number; readonly page: number };

export type SearchCall = {
  readonly method: 'GET' | 'POST';
  /** Below the base URL, with its query. */
  readonly path: string;
  /** Lower-case. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; null with GET. */
  readonly body: string | null;
};

export type ReadSearch =
  /** `hasMore`: another page is worth a call. */
  | { readonly kind: 'found'; readonly pages: readonly FoundPage[]; readonly hasMore: boolean }
  /** For the operator: what is wrong with the body. */
  | { readonly kind: 'unreadable'; readonly message: string };

/** The provider's names for the fields of a result; of several, the first that is there. */
export type PageFields = {
  readonly title: string;
  readonly url: string;
  readonly snippet: readonly string[];
  readonly date: readonly string[];
  readonly score?: string;
};

/** Reads a list of results by their field names; what is no result is left out. `null`: it is no list. */
export function readPages(list: unknown, fields: PageFields): FoundPage[] | null {
  if (!Array.isArray(list)) return null;
  return list.filter(isObject).map((result) => ({
    title: textAt(result, [fields.title]) ?? '',
    url: textAt(result, [fields.url]) ?? '',
    snippet: textAt(result, fields.snippet) ?? '',
    date: textAt(result, fields.date),
    score: fields.score === undefined ? null : readScore(result[fields.score]),
  }));
}

function textAt(result: Record<string, unknown>, names: readonly string[]): string | null {
  for (const name of names) {
    const value = result[name];
    const text = Array.isArray(value) ? value.filter((part) => typeof part === 'string').join(' … ') : value;
    if (typeof text === 'string' && text !== '') return text;
  }
  return null;
}

function readScore(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
