// Types shared by the sources of web pages (a provider or the sandbox) and the search that turns
// their pages into one answer.
import type { TraceContext } from '../lib/trace-context.ts';
import type { UpstreamFailure } from '../canonical/event.ts';

/** A page as its source describes it. Unchecked. */
export type FoundPage = {
  /** HTML, like `snippet`; '' where there is none. */
  readonly title: string;
  /** Anything. */
  readonly url: string;
  readonly snippet: string;
  /** In any form: `2026-01-05T10:00:00Z`, `Jan 5, 2026`, `2 days ago`. null: unknown. */
  readonly date: string | null;
  /** How well it fits, by the finder's own measure. */
  readonly score: number | null;
};

export type PageSearch = {
  readonly query: string;
  /** The maximum number of pages. */
  readonly num: number;
};

type Finding = {
  /** An abort ends the search at once, with a failure. */
  readonly signal: AbortSignal;
  /** The trace that calls to providers continue; null: none. */
  readonly trace: TraceContext | null;
};

/** `lostCalls`: calls that the provider may bill although they returned nothing; left out: none. */
export type Found =
  /** `calls`: as many as its provider bills; left out: one. */
  | {
      readonly kind: 'found';
      readonly pages: readonly FoundPage[];
      readonly calls?: number;
      readonly lostCalls?: number;
    }
  | { readonly kind: 'failure'; readonly failure: UpstreamFailure; readonly lostCalls?: number };

/** Finds pages, best first. */
export type SearchSource = {
  readonly name: string;
  /** null: the sandbox. */
  readonly baseUrl: string | null;
  readonly find: (search: PageSearch, finding: Finding) => Promise<Found>;
};
