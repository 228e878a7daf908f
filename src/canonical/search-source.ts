// The language between those who find pages on the web, a provider or the sandbox, and the search that makes one answer of them.
import type { UpstreamFailure } from './event.ts';

/** A page as its finder tells of it, unchecked. */
export type FoundPage = {
  /** HTML, like `snippet`; '' where there is none. */
  readonly title: string;
  /** Anything. */
  readonly url: string;
  readonly snippet: string;
  /** In any form: `2026-01-05T10:00:00Z`, `Jan 5, 2026`, `2 days ago`. null: it is not told. */
  readonly date: string | null;
  /** How well it fits, by the finder's own measure. */
  readonly score: number | null;
};

/** `num`: the most pages that are wanted. */
export type PageSearch = { readonly query: string; readonly num: number };

export type Found =
  | { readonly kind: 'found'; readonly pages: readonly FoundPage[] }
  | { readonly kind: 'failure'; readonly failure: UpstreamFailure };

/** Finds pages, best first. An abort ends it at once, with a failure. */
export type SearchSource = {
  readonly name: string;
  readonly find: (search: PageSearch, signal: AbortSignal) => Promise<Found>;
};
