// Searches the web through the first source that answers. All of them together have one time limit, and none may use up what the next
// ones need.
import type { UpstreamFailure } from '../canonical/event.ts';
import type { Found, PageSearch, SearchSource } from '../canonical/search-source.ts';
import { toSearchResults, type SearchResult } from './search-result.ts';
import { SourceHealth } from './source-health.ts';

export type SearchAnswer =
  | { readonly kind: 'results'; readonly provider: string; readonly results: readonly SearchResult[] }
  | { readonly kind: 'failure'; readonly failure: UpstreamFailure };

export type WebSearcher = {
  /** Throws nothing that a source does; an abort ends it at once, with a failure. */
  readonly search: (asked: PageSearch, signal: AbortSignal) => Promise<SearchAnswer>;
};

export type WebSearcherOptions = {
  /** In the order in which they are asked; one at least. */
  readonly sources: readonly [SearchSource, ...SearchSource[]];
  /** For all sources together. */
  readonly timeoutMs: number;
  /** Told of every failure that is not the caller's doing, for the log. */
  readonly onFailure?: (source: string, failure: UpstreamFailure) => void;
  readonly nowMs?: () => number;
};

export function createWebSearcher(options: WebSearcherOptions): WebSearcher {
  const health = new SourceHealth();
  return { search: (asked, signal) => searchInOrder({ ...options, health }, asked, signal) };
}

type Searching = WebSearcherOptions & { readonly health: SourceHealth };

async function searchInOrder(searching: Searching, asked: PageSearch, signal: AbortSignal): Promise<SearchAnswer> {
  const { sources, timeoutMs, health, nowMs = Date.now } = searching;
  const deadlineMs = performance.now() + timeoutMs;
  const failures: UpstreamFailure[] = [];
  const ordered = health.inOrder(sources, nowMs());
  for (const [index, source] of ordered.entries()) {
    const patienceMs = (deadlineMs - performance.now()) / (ordered.length - index);
    const found = await findWithin(patienceMs, { source, asked, signal });
    if (found.kind === 'found') {
      health.noteSuccess(source.name);
      return {
        kind: 'results',
        provider: source.name,
        results: toSearchResults(found.pages, { num: asked.num, nowMs: nowMs() }),
      };
    }
    if (signal.aborted) return found;
    noteFailure(searching, source.name, found.failure);
    failures.push(found.failure);
  }
  return { kind: 'failure', failure: failures.find((failure) => !isCallers(failure)) ?? failures[0]! };
}

type Attempt = { readonly source: SearchSource; readonly asked: PageSearch; readonly signal: AbortSignal };

async function findWithin(patienceMs: number, { source, asked, signal }: Attempt): Promise<Found> {
  const patience = AbortSignal.timeout(Math.max(Math.ceil(patienceMs), 1));
  const found = await source.find(asked, AbortSignal.any([signal, patience]));
  const isOurs = found.kind === 'failure' && found.failure.kind === 'connection' && patience.aborted && !signal.aborted;
  if (!isOurs) return found;
  return {
    kind: 'failure',
    failure: { ...found.failure, kind: 'timeout', message: 'no answer came within `search.timeout_ms`' },
  };
}

/** A source that refused this query may take the next. */
function noteFailure({ health, onFailure, nowMs = Date.now }: Searching, name: string, failure: UpstreamFailure): void {
  if (isCallers(failure)) return health.noteSuccess(name);
  health.noteFailure(name, failure, nowMs());
  onFailure?.(name, failure);
}

/** It may be the query that this source does not take. The next one is asked all the same: each has limits of its own. */
function isCallers({ status }: UpstreamFailure): boolean {
  return status === 400 || status === 422;
}
