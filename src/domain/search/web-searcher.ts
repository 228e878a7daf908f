// Searches the web through the first source that answers. All sources share one time limit, divided
// so that each gets a part of it.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Found, PageSearch, SearchSource } from '../../canonical/search-source.ts';
import { abortAfter, type Clock } from '../../lib/clock.ts';
import { toSearchResults, type SearchResult } from './search-result.ts';

/** `lost`: calls without a result that providers may bill nevertheless. */
export type SearchAnswer = { readonly lost: readonly LostCalls[] } & (
  | {
      readonly kind: 'results';
      readonly provider: string;
      readonly calls: number;
      readonly results: readonly SearchResult[];
    }
  | { readonly kind: 'failure'; readonly failure: UpstreamFailure }
);

export type LostCalls = { readonly provider: string; readonly calls: number };

export type WebSearcher = {
  /** Never throws because of a source. */
  readonly search: (asked: PageSearch, signals: SearchSignals) => Promise<SearchAnswer>;
};

/**
 * `running` ends the search at once, with a failure. After `waiting` is aborted, no further source
 * is tried.
 */
type SearchSignals = { readonly running: AbortSignal; readonly waiting: AbortSignal };

export type WebSearcherOptions = {
  /** In the order of preference; at least one. */
  readonly sources: readonly [SearchSource, ...SearchSource[]];
  /** For all sources together. */
  readonly timeoutMs: number;
  /** Absent: all sources count as healthy. */
  readonly health?: SourceHealth;
  /** Called for every failure that the caller did not cause, for the log. */
  readonly onFailure?: (source: string, failure: UpstreamFailure) => void;
  readonly clock: Clock;
};

/** Remembers which sources work, so that a failing one does not slow down every search. */
export type SourceHealth = {
  /** False while the source fails or another search is probing it; it is then tried last. */
  readonly isAvailable: (source: string) => boolean;
  readonly begin: (source: string) => void;
  /** `ms`: milliseconds since `begin`. */
  readonly end: (source: string, ending: SourceEnding, ms: number) => void;
};

/**
 * `refused`: the source refused the operator's credential. `unknown`: the caller left before the
 * end.
 */
export type SourceEnding = 'good' | 'bad' | 'refused' | 'unknown';

export function createWebSearcher(options: WebSearcherOptions): WebSearcher {
  return { search: (asked, signals) => searchInOrder(options, asked, signals) };
}

async function searchInOrder(
  options: WebSearcherOptions,
  asked: PageSearch,
  signals: SearchSignals,
): Promise<SearchAnswer> {
  const { timeoutMs, onFailure, clock } = options;
  const deadlineMs = clock.elapsedMs() + timeoutMs;
  const failures: UpstreamFailure[] = [];
  const lost: LostCalls[] = [];
  const ordered = healthyFirst(options);
  for (const [index, source] of ordered.entries()) {
    const sourceTimeoutMs = (deadlineMs - clock.elapsedMs()) / (ordered.length - index);
    const found = await findAndReport(options, sourceTimeoutMs, {
      source,
      asked,
      signal: signals.running,
    });
    if (found.lostCalls) lost.push({ provider: source.name, calls: found.lostCalls });
    if (found.kind === 'found') {
      return {
        kind: 'results',
        lost,
        provider: source.name,
        calls: found.calls ?? 1,
        results: toSearchResults(found.pages, { num: asked.num, nowMs: clock.nowMs() }),
      };
    }
    if (signals.waiting.aborted) return { ...found, lost };
    if (!isQueryRefused(found.failure)) onFailure?.(source.name, found.failure);
    failures.push(found.failure);
  }
  return {
    kind: 'failure',
    lost,
    failure: failures.find((failure) => !isQueryRefused(failure)) ?? failures[0]!,
  };
}

function healthyFirst({ sources, health }: WebSearcherOptions): SearchSource[] {
  const isAvailable = sources.map(({ name }) => health?.isAvailable(name) ?? true);
  return [
    ...sources.filter((_source, index) => isAvailable[index]),
    ...sources.filter((_source, index) => !isAvailable[index]),
  ];
}

type Attempt = {
  readonly source: SearchSource;
  readonly asked: PageSearch;
  readonly signal: AbortSignal;
};

async function findAndReport(
  { health, clock }: WebSearcherOptions,
  sourceTimeoutMs: number,
  attempt: Attempt,
): Promise<Found> {
  const { name } = attempt.source;
  let ending: SourceEnding = 'unknown';
  const startedAtMs = clock.elapsedMs();
  health?.begin(name);
  try {
    const found = await findWithin(
      abortAfter(clock, Math.max(Math.ceil(sourceTimeoutMs), 1)),
      attempt,
    );
    if (!attempt.signal.aborted) ending = endingOf(found);
    return found;
  } finally {
    health?.end(name, ending, clock.elapsedMs() - startedAtMs);
  }
}

/** A source that refuses this query may accept the next one, so it is healthy. */
function endingOf(found: Found): SourceEnding {
  if (found.kind === 'found' || isQueryRefused(found.failure)) return 'good';
  const { status } = found.failure;
  return status === 401 || status === 402 || status === 403 ? 'refused' : 'bad';
}

async function findWithin(
  sourceTimeout: AbortSignal,
  { source, asked, signal }: Attempt,
): Promise<Found> {
  const found = await source.find(asked, AbortSignal.any([signal, sourceTimeout]));
  const isTimeout =
    found.kind === 'failure' &&
    found.failure.kind === 'connection' &&
    sourceTimeout.aborted &&
    !signal.aborted;
  if (!isTimeout) return found;
  return {
    ...found,
    failure: {
      ...found.failure,
      kind: 'timeout',
      message: 'no answer came within `search.timeout_ms`',
    },
  };
}

/**
 * The source may have refused the query itself. The next source is tried nevertheless, because
 * limits differ.
 */
function isQueryRefused({ status }: UpstreamFailure): boolean {
  return status === 400 || status === 422;
}
