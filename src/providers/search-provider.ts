// The interface of web search providers: how to write a search and read its answer, as data and
// pure functions.
import type { UpstreamFailure } from '../canonical/event.ts';
import type { SearchKindName } from '../terms/provider-kind.ts';
import type { FoundPage } from '../terms/search-source.ts';
import { isObject } from '../lib/json.ts';
import type { UpstreamCall } from './upstream-call.ts';

export type SearchProviderKind = {
  readonly kind: SearchKindName;
  /** The maximum results of one call. */
  readonly resultsPerCallMax: number;
  /** The maximum calls for one search, each for the next page of results. */
  readonly pagesMax: number;
  readonly writeSearch: (search: SearchPage, apiKey: string | null) => SearchCall;
  readonly readSearch: (body: unknown) => ReadSearch;
  /**
   * Corrects the provider's own errors when the status alone misleads. `body`: parsed JSON, or
   * text.
   */
  readonly readFailure?: (failure: UpstreamFailure, body: unknown) => UpstreamFailure;
};

/** One page of results: `count` results after `page` earlier pages of the same size. */
export type SearchPage = { readonly query: string; readonly count: number; readonly page: number };

type SearchCall = Required<Pick<UpstreamCall, 'method' | 'path' | 'headers' | 'body'>>;

export type ReadSearch =
  /** `hasMore`: the next page is worth a call. */
  | { readonly kind: 'found'; readonly pages: readonly FoundPage[]; readonly hasMore: boolean }
  /** `message` tells the operator what is wrong with the body. */
  | { readonly kind: 'unreadable'; readonly message: string };

/** The provider's names for the fields of a result; the first that is present counts. */
type PageFields = {
  readonly title: string;
  readonly url: string;
  readonly snippet: readonly string[];
  readonly date: readonly string[];
  readonly score?: string;
};

/** Reads a list of results by their field names and leaves out invalid ones. `place`: for the error. */
export function readPages(list: unknown, place: string, fields: PageFields): ReadSearch {
  if (!Array.isArray(list))
    return { kind: 'unreadable', message: `the answer has no \`${place}\`` };
  const pages = list.filter(isObject).map((result) => ({
    title: textAt(result, [fields.title]) ?? '',
    url: textAt(result, [fields.url]) ?? '',
    snippet: textAt(result, fields.snippet) ?? '',
    date: textAt(result, fields.date),
    score: fields.score === undefined ? null : readScore(result[fields.score]),
  }));
  return { kind: 'found', pages, hasMore: false };
}

/** Returns a search that is posted as JSON. */
export function postSearch(headers: SearchCall['headers'], body: object): SearchCall {
  return { method: 'POST', path: '/search', headers, body: JSON.stringify(body) };
}

function textAt(result: Record<string, unknown>, names: readonly string[]): string | null {
  for (const name of names) {
    const value = result[name];
    const text = Array.isArray(value)
      ? value.filter((part) => typeof part === 'string').join(' … ')
      : value;
    if (typeof text === 'string' && text !== '') return text;
  }
  return null;
}

function readScore(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
