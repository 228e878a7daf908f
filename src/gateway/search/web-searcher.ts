// Searches the web through the first source that answers. All sources share one time limit, divided
// so that each gets a part of it.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Found, PageSearch, SearchSource } from '../../canonical/search-source.ts';
import { searchModelId } from '../../canonical/web-search.ts';
import { toSearchResults, type SearchResult } from '../../domain/search/search-result.ts';
import { abortAfter, type Clock } from '../../lib/clock.ts';
import type { TraceContext } from '../../lib/trace-context.ts';
import type { RequestLog } from '../request-log.ts';
import type { RouteHealth } from '../calling/health.ts';
import { callRoute, type CallListeners } from '../calling/call-route.ts';
import { availableFirst, tryRoutes } from '../calling/try-routes.ts';

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
export type WebSearch = PageSearch & {
  readonly record: RequestLog;
  readonly trace: TraceContext | null;
};

export type WebSearcher = {
  /** Never throws because of a source. */
  readonly search: (asked: WebSearch, signals: SearchSignals) => Promise<SearchAnswer>;
};

/**
 * `running` ends the search at once, with a failure. After `waiting` is aborted, no further source
 * is tried.
 */
type SearchSignals = { readonly running: AbortSignal; readonly waiting: AbortSignal };

type WebSearcherOptions = CallListeners & {
  readonly routing: { readonly health: Pick<RouteHealth, 'isAvailable'> };
  /** In the order of preference; at least one. */
  readonly sources: readonly SearchSource[];
  /** For all sources together. */
  readonly timeoutMs: number;
  readonly clock: Clock;
};

type Tried = Found & { readonly source: SearchSource };

/** A provider's searches have a circuit breaker of their own, beside its models. */
const routeOf = ({ name }: SearchSource) => ({ provider: name, upstreamModel: searchModelId });

export function createWebSearcher(options: WebSearcherOptions): WebSearcher {
  const { sources, timeoutMs, routing, clock } = options;
  return {
    async search(asked, signals) {
      const deadlineMs = clock.elapsedMs() + timeoutMs;
      const failures: UpstreamFailure[] = [];
      const lost: LostCalls[] = [];
      const waiting = availableFirst(sources, (source) =>
        routing.health.isAvailable(routeOf(source)),
      );
      const tried = await tryRoutes<SearchSource, Tried>(waiting.shift()!, {
        async call(source) {
          const leftMs = (deadlineMs - clock.elapsedMs()) / (waiting.length + 1);
          const found = await find(options, { source, asked, leftMs, signal: signals.running });
          if (found.lostCalls) lost.push({ provider: source.name, calls: found.lostCalls });
          if (found.kind === 'failure') failures.push(found.failure);
          return { ...found, source };
        },
        nextAfter: () => (signals.waiting.aborted ? null : (waiting.shift() ?? null)),
      });
      if (tried.kind === 'failure') {
        const failure = signals.waiting.aborted
          ? tried.failure
          : (failures.find((one) => !isQueryRefused(one)) ?? failures[0]!);
        return { kind: 'failure', lost, failure };
      }
      return {
        kind: 'results',
        lost,
        provider: tried.source.name,
        calls: tried.calls ?? 1,
        results: toSearchResults(tried.pages, { num: asked.num, nowMs: clock.nowMs() }),
      };
    },
  };
}

type Finding = {
  readonly source: SearchSource;
  readonly asked: WebSearch;
  readonly leftMs: number;
  readonly signal: AbortSignal;
};

function find(
  options: WebSearcherOptions,
  { source, asked, leftMs, signal }: Finding,
): Promise<Found> {
  const { record, trace, query, num } = asked;
  const call = {
    route: routeOf(source),
    baseUrl: source.baseUrl,
    stream: false,
    record,
    // The message of an error status may quote the query, which does not belong in a log.
    logFields: ({ kind, message }: UpstreamFailure) =>
      kind === 'status' ? {} : { reason: message },
    isStopped: () => signal.aborted,
  };
  return callRoute(options, call, async (span) => {
    const timeout = abortAfter(options.clock, Math.max(Math.ceil(leftMs), 1));
    const found = await source.find(
      { query, num },
      { signal: AbortSignal.any([signal, timeout]), trace: span?.trace ?? trace },
    );
    const isTimeout = timeout.aborted && !signal.aborted;
    return isTimeout ? asTimeout(found) : found;
  });
}

function asTimeout(found: Found): Found {
  if (found.kind !== 'failure' || found.failure.kind !== 'connection') return found;
  const message = 'no answer came within `search.timeout_ms`';
  return { ...found, failure: { ...found.failure, kind: 'timeout', message } };
}

/**
 * The source may have refused the query itself. The next source is tried nevertheless, because
 * limits differ.
 */
function isQueryRefused({ status }: UpstreamFailure): boolean {
  return status === 400 || status === 422;
}
