// Makes one call of a route, for everything that is sold. How the call ended goes to the route's circuit
// breaker, the provider's statistics, the metrics, the spans, the request's record and the log.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { CallSpan } from '../../canonical/request-spans.ts';
import type { Activity } from '../../domain/activity/activity.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { Meter } from '../meter.ts';
import type { Run } from '../active-runs.ts';
import type { RequestLog } from '../request-log.ts';
import { answerKindOf, type CallEnding, type RouteHealth, type RouteName } from './health.ts';
import { availableFirst, tryRoutes } from './try-routes.ts';
import { isCredentialRefused, nextStepAfter } from './retry-policy.ts';

/** The parts of the program that note how a call ended. */
export type CallListeners = {
  readonly hosts: { readonly routing: { readonly health: RouteHealth } };
  readonly observe: {
    readonly activity: Pick<Activity, 'noteCall'>;
    readonly meter: Pick<Meter, 'noteCall'>;
  };
  readonly log: Pick<Logger, 'warn' | 'error'>;
  readonly clock: Pick<Clock, 'elapsedMs'>;
};

export type RouteCall = {
  readonly route: RouteName;
  /** null: the sandbox answers, and nothing is sent. */
  readonly baseUrl: string | null;
  readonly stream: boolean;
  /** The record of the request that it is made for. */
  readonly record: RequestLog;
  /** More fields for the log line of a failure, beside its route and status. */
  readonly logFields: (failure: UpstreamFailure) => object;
  /** True when the call was stopped, so that its failure says nothing about the route. */
  readonly isStopped: () => boolean;
};

type ToTry<Route> = Pick<RouteCall, 'record' | 'logFields'> & {
  /** At least one, in the order of preference. */
  readonly routes: readonly Route[];
  readonly signals: Pick<Run, 'waiting' | 'running'>;
};

export type Callable = Pick<RouteCall, 'route' | 'baseUrl'>;

/**
 * Calls each route once, those that are out of use last, until one answers. `left`: how many routes
 * come after it.
 */
export function callInOrder<Route extends Callable, Result extends Called>(
  listeners: CallListeners,
  { routes, record, logFields, signals }: ToTry<Route>,
  send: (route: Route, span: CallSpan | null, left: number) => Promise<Result>,
): Promise<Result> {
  const { health } = listeners.hosts.routing;
  const waiting = availableFirst(
    routes,
    ({ route, baseUrl }) => baseUrl === null || health.isAvailable(route),
  );
  return tryRoutes<Route, Result>(waiting.shift()!, {
    call(route) {
      const isStopped = () => signals.running.aborted;
      const call = { ...route, stream: false, record, logFields, isStopped };
      return callRoute(listeners, call, (span) => send(route, span, waiting.length));
    },
    nextAfter: () => (signals.waiting.aborted ? null : (waiting.shift() ?? null)),
  });
}

/** The result of a call. A failure has `failure`; an answer can have any other form. */
type Called = { readonly kind: string; readonly failure?: UpstreamFailure };

/** `send`: makes the call. It calls `noteAnswer` as soon as a piece of a stream can be sent. */
export async function callRoute<Result extends Called>(
  listeners: CallListeners,
  call: RouteCall,
  send: (span: CallSpan | null, noteAnswer: () => void) => Promise<Result>,
): Promise<Result> {
  const { record, route, baseUrl, stream } = call;
  const span = record.spans?.beginCall({ ...route, baseUrl, isStream: stream }) ?? null;
  try {
    const result = await (baseUrl === null
      ? send(span, () => span?.noteFirstPiece())
      : callHost(listeners, call, (noteAnswer) => {
          const note = () => {
            span?.noteFirstPiece();
            noteAnswer();
          };
          return send(span, note);
        }));
    if (result.failure) span?.fail(result.failure);
    return result;
  } finally {
    span?.end();
  }
}

async function callHost<Result extends Called>(
  listeners: CallListeners,
  call: RouteCall,
  send: (noteAnswer: () => void) => Promise<Result>,
): Promise<Result> {
  const { clock, hosts, observe } = listeners;
  const { health } = hosts.routing;
  const { route, record } = call;
  const { provider, upstreamModel } = route;
  const kind = answerKindOf(call);
  const startedAtMs = clock.elapsedMs();
  let answeredAtMs: number | null = null;
  let ending: CallEnding = 'unknown';
  let failure: UpstreamFailure | undefined;
  health.begin(route);
  try {
    const result = await send(() => {
      answeredAtMs = clock.elapsedMs();
      health.noteAnswer(route);
    });
    ({ failure } = result);
    if (!failure) ending = 'good';
    else if (!call.isStopped()) ending = logFailure(listeners.log, call, failure);
    return result;
  } finally {
    const ms = (answeredAtMs ?? clock.elapsedMs()) - startedAtMs;
    health.end(route, ending);
    observe.activity.noteCall({ provider, kind, ending, ms });
    observe.meter.noteCall({ provider, kind, outcome: outcomeOf(ending, failure), ms });
    record.addTry({
      provider,
      model: upstreamModel,
      ending: failure ? 'failed' : 'answered',
      failure: failure?.kind ?? null,
      status: failure?.status ?? null,
      ms: Math.round(ms),
    });
  }
}

/**
 * Returns the name of an ending for the metrics: `answered`; `abandoned` when nobody waited for the
 * end; `credential-refused`; the status of a failure as `http-429` or `http-5xx`; or its kind, such
 * as `timeout`. The names are a bounded set.
 */
function outcomeOf(ending: CallEnding, failure: UpstreamFailure | undefined): string {
  if (ending === 'unknown') return 'abandoned';
  if (ending === 'refused') return 'credential-refused';
  if (!failure) return 'answered';
  const { kind, status } = failure;
  if (kind !== 'status' || status === null) return kind;
  return status === 429 ? 'http-429' : `http-${Math.floor(status / 100)}xx`;
}

/**
 * Logs a failure of which the client sees little, and returns how its call ended. Its message is
 * not logged, because it may quote the client's words.
 */
function logFailure(
  log: CallListeners['log'],
  { route: { provider, upstreamModel }, logFields }: RouteCall,
  failure: UpstreamFailure,
): CallEnding {
  const { kind, status } = failure;
  const logged = {
    provider,
    model: upstreamModel,
    ...logFields(failure),
    kind,
    upstream_status: status,
  };
  if (isCredentialRefused(status)) {
    log.error(
      logged,
      'the provider refuses its credential or wants money: no request through it can succeed',
    );
    return 'refused';
  }
  log.warn(logged, 'the upstream failed');
  // A provider that refuses a faulty request is healthy.
  return nextStepAfter(failure) === 'never' ? 'good' : 'bad';
}
