// Metrics of the providers: calls, their ends and times, connections and circuit breakers.
import type { Upstreams } from '../../gateway/calling/upstreams.ts';
import type { Meter } from '../../gateway/meter.ts';
import type { RouteHealth, RouteState } from '../../gateway/calling/health.ts';
import { countsMetric, timingsMetric, type Metric, type Sample } from './metric.ts';

type Sources = {
  readonly meter: Meter;
  readonly upstreams: Upstreams;
  readonly health: RouteHealth;
};

export function upstreamMetrics({ meter, upstreams, health }: Sources): readonly Metric[] {
  return [
    countsMetric(
      {
        name: 'upstream_attempts_total',
        help: 'Calls of a provider that have ended, by outcome, retries included.',
      },
      ['provider', 'outcome'],
      meter.calls,
    ),
    timingsMetric(
      {
        name: 'upstream_answer_seconds',
        help: 'From the call of a provider to the first piece of its stream, or to the end of a whole answer.',
      },
      ['provider', 'kind'],
      meter.callTimes,
    ),
    {
      name: 'upstream_sockets',
      type: 'gauge',
      help: 'Open connections to a provider.',
      read: () =>
        upstreams.sockets().flatMap(({ provider, used, idle }) => [
          { labels: { provider, state: 'used' }, value: used },
          { labels: { provider, state: 'idle' }, value: idle },
        ]),
    },
    {
      name: 'upstream_waiting_calls',
      type: 'gauge',
      help: 'Calls that wait for a connection to a provider.',
      read: () =>
        upstreams
          .sockets()
          .map(({ provider, waiting }) => ({ labels: { provider }, value: waiting })),
    },
    ofRoutes('counter', health, {
      name: 'upstream_calls_total',
      help: 'Calls that were sent to a route, a provider with one of its models, retries included.',
      value: ({ calls }) => calls,
    }),
    ofRoutes('counter', health, {
      name: 'upstream_failures_total',
      help: "Calls that failed by the route's fault.",
      value: ({ failures }) => failures,
    }),
    ofRoutes('counter', health, {
      name: 'credential_refused_total',
      help: "Calls in which a provider refused the operator's credential or asked for payment.",
      value: ({ refusals }) => refusals,
    }),
    ofRoutes('gauge', health, {
      name: 'route_ejected',
      help: '1 while the circuit breaker of the route is open: it is called only when no other route works.',
      value: ({ state }) => (state === 'in-use' ? 0 : 1),
    }),
  ];
}

type RouteMetric = Pick<Metric, 'name' | 'help'> & {
  readonly value: (route: RouteState) => number;
};

/** A metric of each route that was called. Threads share these states, so each reads the same. */
function ofRoutes(
  type: Metric['type'],
  health: RouteHealth,
  { name, help, value }: RouteMetric,
): Metric {
  const read = (): Sample[] =>
    health.states().map((route) => ({
      labels: { provider: route.provider, model: route.upstreamModel },
      value: value(route),
    }));
  return { name, type, help, aggregator: 'max', read };
}
