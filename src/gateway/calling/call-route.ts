// Makes one call of a route, for everything that is sold, and tells when it begins, when its first
// piece comes, and how it ends.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Stop } from '../../canonical/stop.ts';
import type { CallEnding, ProviderCall } from '../../events/request-events.ts';
import type { Clock } from '../../lib/clock.ts';
import type { RequestRecord } from '../request-record.ts';
import type { Run } from '../active-runs.ts';
import type { TakeCall } from './call-limits.ts';
import type { RouteHealth } from './health.ts';
import type { RouteName } from './shared-health.ts';
import { blamesRequest, isCredentialRefused, isMissing, nextStepAfter } from './retry-policy.ts';

type RouteCall = Pick<ProviderCall, 'baseUrl' | 'isStream' | 'number'> & {
  readonly route: RouteName;
};

export type Callable = Pick<RouteCall, 'route' | 'baseUrl'>;

/** The result of a call. A failure has `failure`; an answer can have any other form. */
type Result = {
  readonly kind: string;
  readonly failure?: UpstreamFailure;
  /** Why a model stopped; left out: unknown. */
  readonly stop?: Stop['reason'] | null;
};

/** The request that calls are made for. */
type Calling = {
  readonly record: RequestRecord;
  readonly clock: Pick<Clock, 'elapsedMs'>;
  /** When it is aborted, the call was stopped, and its failure says nothing about the route. */
  readonly signal: AbortSignal;
};

/**
 * `send`: makes the call. It calls `noteFirstByte` as soon as a piece of a stream can be sent.
 */
export async function callRoute<R extends Result>(
  { record, clock, signal }: Calling,
  { route, baseUrl, isStream, number }: RouteCall,
  send: (call: ProviderCall, noteFirstByte: () => void) => Promise<R>,
): Promise<R> {
  const call: ProviderCall = {
    ...route,
    baseUrl,
    isStream,
    number,
    trace: record.spans ? record.spans.traceOfStep() : record.trace,
    startMs: clock.elapsedMs(),
    firstByteMs: null,
  };
  let result: R | null = null;
  record.tell({ type: 'call-begun', call });
  try {
    result = await send(call, () => {
      call.firstByteMs ??= clock.elapsedMs();
      record.tell({ type: 'first-byte', call });
    });
    return result;
  } finally {
    const { failure = null, stop = null } = result ?? {};
    const ending = result ? endingOf(failure, signal) : 'unknown';
    record.tell({ type: 'call-ended', call, ending, failure, stop, endMs: clock.elapsedMs() });
  }
}

function endingOf(failure: UpstreamFailure | null, signal: AbortSignal): CallEnding {
  if (!failure) return 'good';
  if (signal.aborted) return 'unknown';
  if (isCredentialRefused(failure.status)) return 'refused';
  // A request may name something else that is not there: others must not lose the route by that.
  const isRequests = blamesRequest(failure) || isMissing(failure.status);
  return isRequests ? 'good' : 'bad';
}

/** `running`: ends a call at once. Once `waiting` is aborted, no further route is tried. */
export type StopSignals = Pick<Run, 'waiting' | 'running'>;

type ToTry<Route> = {
  /** At least one, in the order of preference. */
  readonly routes: readonly Route[];
  readonly health: RouteHealth;
  readonly takeCall: TakeCall;
  /** A search goes on after any failure, because providers limit queries differently. */
  readonly isSearch: boolean;
  readonly signals: StopSignals;
};

/**
 * Tries each route once, those that are out of use or at their limit of calls last, until one answers or
 * refuses the request itself. `number`: 1 for the first. `left`: how many routes come after it.
 */
export async function tryInOrder<Route extends Callable, R extends Result>(
  { isSearch, signals, ...toTry }: ToTry<Route>,
  call: (route: Route, tried: { readonly number: number; readonly left: number }) => Promise<R>,
): Promise<R> {
  const waiting = availableFirst(toTry.routes, toTry.health);
  for (let number = 1; ; number++) {
    const next = takeNext(waiting, toTry);
    const route = next instanceof Promise ? await next : next;
    const result = await call(route, { number, left: waiting.length });
    const { kind, failure } = result;
    if (kind !== 'failure' || waiting.length === 0 || signals.waiting.aborted) return result;
    if (!isSearch && failure && nextStepAfter(failure) === 'never') return result;
  }
}

/**
 * Removes and returns the first route, at `from` or behind, that may be called now; the first of all when
 * none may. Without limits of calls, nothing runs between the look and the call: else several requests
 * would test a route that was out of use.
 */
function takeNext<Route extends Callable>(
  waiting: Route[],
  parts: Pick<ToTry<Route>, 'health' | 'takeCall'>,
  from = 0,
): Route | Promise<Route> {
  for (const [index, { route, baseUrl }] of waiting.entries()) {
    if (index < from || (baseUrl !== null && !parts.health.isAvailable(route))) continue;
    const take = () => waiting.splice(index, 1)[0]!;
    const taken = baseUrl === null || parts.takeCall(route.provider);
    if (taken instanceof Promise)
      return taken.then((isTaken) => (isTaken ? take() : takeNext(waiting, parts, index + 1)));
    if (taken) return take();
  }
  return waiting.shift()!;
}

/**
 * Returns the routes in their order, those that are out of use last. The sandbox is always in use.
 */
function availableFirst<Route extends Callable>(
  routes: readonly Route[],
  health: RouteHealth,
): Route[] {
  const available = new Set(
    routes.filter(({ route, baseUrl }) => baseUrl === null || health.isAvailable(route)),
  );
  return [...available, ...routes.filter((route) => !available.has(route))];
}
