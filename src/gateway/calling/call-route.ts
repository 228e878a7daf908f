// Makes one call of a route, for everything that is sold, and tells when it begins, when its first
// piece comes, and how it ends.
import type { Stop, UpstreamFailure } from '../../canonical/event.ts';
import type { CallEnding, ProviderCall } from '../../canonical/request-events.ts';
import type { Clock } from '../../lib/clock.ts';
import type { RequestRecord } from '../request-record.ts';
import type { Run } from '../active-runs.ts';
import type { RouteHealth, RouteName } from './health.ts';
import { availableFirst, tryRoutes } from './try-routes.ts';
import { isCredentialRefused, nextStepAfter } from './retry-policy.ts';

export type RouteCall = {
  readonly route: RouteName;
  /** null: the sandbox answers, and nothing is sent. */
  readonly baseUrl: string | null;
  readonly isStream: boolean;
  /** 1 for the request's first call; null: a search. */
  readonly number: number | null;
};

/** The request that calls are made for. */
type Calling = {
  readonly record: RequestRecord;
  readonly clock: Pick<Clock, 'elapsedMs'>;
};

/** Returns a call that begins now. */
export function newCall(
  { record: { spans, trace }, clock }: Calling,
  { route, ...facts }: RouteCall,
): ProviderCall {
  return {
    ...route,
    ...facts,
    trace: spans ? spans.traceOfStep() : trace,
    startMs: clock.elapsedMs(),
    firstByteMs: null,
  };
}

/** The result of a call. A failure has `failure`; an answer can have any other form. */
type Result = {
  readonly kind: string;
  readonly failure?: UpstreamFailure;
  /** Why a model stopped; left out: unknown. */
  readonly stop?: Stop['reason'] | null;
};

type ToCall = Calling & {
  readonly call: ProviderCall;
  /** True when the call was stopped, so that its failure says nothing about the route. */
  readonly isStopped: () => boolean;
};

/** `send`: makes the call. It calls `noteFirstByte` as soon as a piece of a stream can be sent. */
export async function callRoute<R extends Result>(
  { record, clock, call, isStopped }: ToCall,
  send: (noteFirstByte: () => void) => Promise<R>,
): Promise<R> {
  let result: R | null = null;
  record.tell({ type: 'call-begun', call });
  try {
    result = await send(() => {
      call.firstByteMs ??= clock.elapsedMs();
      record.tell({ type: 'first-byte', call });
    });
    return result;
  } finally {
    const { failure = null, stop = null } = result ?? {};
    const ending = result ? endingOf(failure, isStopped) : 'unknown';
    record.tell({ type: 'call-ended', call, ending, failure, stop, endMs: clock.elapsedMs() });
  }
}

function endingOf(failure: UpstreamFailure | null, isStopped: () => boolean): CallEnding {
  if (!failure) return 'good';
  if (isStopped()) return 'unknown';
  if (isCredentialRefused(failure.status)) return 'refused';
  return nextStepAfter(failure) === 'never' ? 'good' : 'bad';
}

export type Callable = Pick<RouteCall, 'route' | 'baseUrl'>;

type ToTry<Route> = Calling & {
  /** At least one, in the order of preference. */
  readonly routes: readonly Route[];
  readonly health: RouteHealth;
  readonly isSearch: boolean;
  readonly signals: Pick<Run, 'waiting' | 'running'>;
};

/**
 * Calls each route once, those that are out of use last, until one answers. `left`: how many routes
 * come after it.
 */
export function callInOrder<Route extends Callable, R extends Result>(
  { routes, health, isSearch, signals, ...calling }: ToTry<Route>,
  send: (route: Route, call: ProviderCall, left: number) => Promise<R>,
): Promise<R> {
  const isStopped = () => signals.running.aborted;
  const waiting = availableFirst(
    routes,
    ({ route, baseUrl }) => baseUrl === null || health.isAvailable(route),
  );
  return tryRoutes<Route, R>(waiting.shift()!, {
    call(callable, tried) {
      const { route, baseUrl } = callable;
      const number = isSearch ? null : tried;
      const call = newCall(calling, { route, baseUrl, isStream: false, number });
      return callRoute({ ...calling, call, isStopped }, () => send(callable, call, waiting.length));
    },
    nextAfter: () => (signals.waiting.aborted ? null : (waiting.shift() ?? null)),
  });
}
