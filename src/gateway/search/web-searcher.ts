// Searches the web through the first source that answers. All sources share one time limit, divided
// so that each gets a part of it.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Found, PageSearch, SearchSource } from '../../terms/search-source.ts';
import { searchModelId } from '../../terms/web-search.ts';
import { toSearchResults, type SearchResult } from '../../domain/search/search-result.ts';
import { abortAfter, type Clock } from '../../lib/clock.ts';
import type { RequestRecord } from '../request-record.ts';
import { callRoute, tryInOrder, type Callable, type StopSignals } from '../calling/call-route.ts';
import type { TakeCall } from '../calling/call-limits.ts';
import type { RouteHealth } from '../calling/health.ts';

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

/** What is searched for, and the record of the request that searches. */
type WebSearch = PageSearch & {
  readonly record: RequestRecord;
};

export type WebSearcher = ReturnType<typeof createWebSearcher>;

type WebSearcherOptions = {
  /** In the order of preference; at least one. */
  readonly sources: readonly SearchSource[];
  readonly health: RouteHealth;
  readonly takeCall: TakeCall;
  /** For all sources together. */
  readonly timeoutMs: number;
  readonly clock: Clock;
};

type SourceRoute = Callable & { readonly source: SearchSource };
type SourceAnswer = Found & { readonly source: SearchSource };

export function createWebSearcher(options: WebSearcherOptions) {
  const { sources, health, takeCall, timeoutMs, clock } = options;
  // A provider's searches have a circuit breaker of their own, beside its models.
  const routes = sources.map((source) => ({
    source,
    route: { provider: source.name, upstreamModel: searchModelId },
    baseUrl: source.baseUrl,
  }));
  return {
    /** Never throws because of a source. `running` ends it with a failure. */
    search: async (
      { query, num, record }: WebSearch,
      signals: StopSignals,
    ): Promise<SearchAnswer> => {
      const deadlineMs = clock.elapsedMs() + timeoutMs;
      const failures: UpstreamFailure[] = [];
      const lost: LostCalls[] = [];
      const calling = { record, clock, signal: signals.running };
      const order = { routes, health, takeCall, isSearch: true, signals };
      const last = await tryInOrder<SourceRoute, SourceAnswer>(
        order,
        ({ source, ...to }, { left }) =>
          callRoute(calling, { ...to, isStream: false, number: null }, async ({ trace }) => {
            const leftMs = (deadlineMs - clock.elapsedMs()) / (left + 1);
            const timeout = abortAfter(clock, Math.max(Math.ceil(leftMs), 1));
            const signal = AbortSignal.any([signals.running, timeout]);
            const answer = await source.find({ query, num }, { signal, trace });
            const isTimeout = timeout.aborted && !signals.running.aborted;
            const found = isTimeout ? asTimeout(answer) : answer;
            if (found.lostCalls) lost.push({ provider: source.name, calls: found.lostCalls });
            if (found.kind === 'failure') failures.push(found.failure);
            return { ...found, source };
          }),
      );
      if (last.kind === 'failure') {
        const failure = signals.waiting.aborted
          ? last.failure
          : (failures.find((one) => !isQueryRefused(one)) ?? failures[0]!);
        return { kind: 'failure', lost, failure };
      }
      const { pages, calls = 1, source } = last;
      const results = toSearchResults(pages, { num, nowMs: clock.nowMs() });
      return { kind: 'results', lost, provider: source.name, calls, results };
    },
  };
}

function asTimeout(found: Found): Found {
  if (found.kind !== 'failure' || found.failure.kind !== 'connection') return found;
  const message = 'no answer came in time';
  return { ...found, failure: { ...found.failure, kind: 'timeout', message } };
}

/**
 * The source may have refused the query itself. The next source is tried nevertheless, because
 * limits differ.
 */
function isQueryRefused({ status }: UpstreamFailure): boolean {
  return status === 400 || status === 422;
}
