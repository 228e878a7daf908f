// Searches the web through the first source that answers. All of them together have one time limit, and none may use up what the next
// ones need.
import type { UpstreamFailure } from '../canonical/event.ts';
import type { Found, PageSearch, SearchSource } from '../canonical/search-source.ts';
import { abortAfter, type Clock } from '../lib/clock.ts';
import { toSearchResults, type SearchResult } from './search-result.ts';

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
  /** Left out: all are taken to work. */
  readonly health?: SourceHealth;
  /** Told of every failure that is not the caller's doing, for the log. */
  readonly onFailure?: (source: string, failure: UpstreamFailure) => void;
  readonly clock: Clock;
};

/** Remembers which sources work, so that a dead one does not slow every search down. */
export type SourceHealth = {
  /** `false`: it fails, or one search is trying it again. It is asked after all others then. */
  readonly isFree: (source: string) => boolean;
  readonly begin: (source: string) => void;
  /** `ms`: since it began. */
  readonly end: (source: string, ending: SourceEnding, ms: number) => void;
};

/** `refused`: it does not take the operator's credential. `unknown`: nobody waited for its end. */
export type SourceEnding = 'good' | 'bad' | 'refused' | 'unknown';

export function createWebSearcher(options: WebSearcherOptions): WebSearcher {
  return { search: (asked, signal) => searchInOrder(options, asked, signal) };
}

async function searchInOrder(options: WebSearcherOptions, asked: PageSearch, signal: AbortSignal): Promise<SearchAnswer> {
  const { timeoutMs, onFailure, clock } = options;
  const deadlineMs = clock.elapsedMs() + timeoutMs;
  const failures: UpstreamFailure[] = [];
  const ordered = inOrder(options);
  for (const [index, source] of ordered.entries()) {
    const patienceMs = (deadlineMs - clock.elapsedMs()) / (ordered.length - index);
    const found = await findHealthily(options, patienceMs, { source, asked, signal });
    if (found.kind === 'found') {
      return {
        kind: 'results',
        provider: source.name,
        results: toSearchResults(found.pages, { num: asked.num, nowMs: clock.nowMs() }),
      };
    }
    if (signal.aborted) return found;
    if (!isCallers(found.failure)) onFailure?.(source.name, found.failure);
    failures.push(found.failure);
  }
  return { kind: 'failure', failure: failures.find((failure) => !isCallers(failure)) ?? failures[0]! };
}

function inOrder({ sources, health }: WebSearcherOptions): SearchSource[] {
  const isFree = sources.map(({ name }) => health?.isFree(name) ?? true);
  return [...sources.filter((_source, index) => isFree[index]), ...sources.filter((_source, index) => !isFree[index])];
}

type Attempt = { readonly source: SearchSource; readonly asked: PageSearch; readonly signal: AbortSignal };

async function findHealthily({ health, clock }: WebSearcherOptions, patienceMs: number, attempt: Attempt): Promise<Found> {
  const { name } = attempt.source;
  let ending: SourceEnding = 'unknown';
  const startedAtMs = clock.elapsedMs();
  health?.begin(name);
  try {
    const found = await findWithin(abortAfter(clock, Math.max(Math.ceil(patienceMs), 1)), attempt);
    if (!attempt.signal.aborted) ending = endingOf(found);
    return found;
  } finally {
    health?.end(name, ending, clock.elapsedMs() - startedAtMs);
  }
}

/** A source that refused this query may take the next. */
function endingOf(found: Found): SourceEnding {
  if (found.kind === 'found' || isCallers(found.failure)) return 'good';
  const { status } = found.failure;
  return status === 401 || status === 402 || status === 403 ? 'refused' : 'bad';
}

async function findWithin(patience: AbortSignal, { source, asked, signal }: Attempt): Promise<Found> {
  const found = await source.find(asked, AbortSignal.any([signal, patience]));
  const isOurs = found.kind === 'failure' && found.failure.kind === 'connection' && patience.aborted && !signal.aborted;
  if (!isOurs) return found;
  return {
    kind: 'failure',
    failure: { ...found.failure, kind: 'timeout', message: 'no answer came within `search.timeout_ms`' },
  };
}

/** It may be the query that this source does not take. The next one is asked all the same: each has limits of its own. */
function isCallers({ status }: UpstreamFailure): boolean {
  return status === 400 || status === 422;
}
