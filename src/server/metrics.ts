// Metrics for Prometheus at `GET /metrics`: requests, tokens and money. Money is in microdollars,
// as the ledger booked it.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { ApiError } from '../canonical/errors.ts';
import type { RouteHealth, RouteState } from '../gateway/routing/health.ts';
import type { Handler, ServerContext } from './context.ts';
import type { FinishedRequest, RecordRequest } from './record-request.ts';

export type Metrics = { readonly registry: Registry; readonly meter: RecordRequest };

/** Bucket bounds in seconds, from a millisecond to the longest answers. */
const durationBuckets = [
  0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800,
];

export function createMetrics({
  gateway: { runs, routing },
  overload,
}: Pick<ServerContext, 'gateway' | 'overload'>): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const counter = (name: string, help: string, labelNames: readonly string[]) =>
    countInMemory(registry, { name: `tollgate_${name}`, help, labelNames });
  const requests = counter('requests_total', 'Requests that were answered.', [
    'route',
    'status',
    'error_code',
  ]);
  const seconds = new Histogram({
    name: 'tollgate_request_duration_seconds',
    help: 'From the first byte of the request to the last of the answer.',
    labelNames: ['route'],
    buckets: durationBuckets,
    registers: [registry],
  });
  const tokens = counter('tokens_total', 'Tokens of charged requests.', [
    'mode',
    'model',
    'direction',
  ]);
  const charged = counter('charged_micros_total', 'Microdollars charged to accounts.', [
    'mode',
    'model',
    'provider',
  ]);
  const cost = counter(
    'upstream_cost_micros_total',
    'What the charged requests cost the operator.',
    ['mode', 'model', 'provider'],
  );
  const loss = counter(
    'loss_micros_total',
    'Microdollars that nobody paid: failed requests, and cost beyond what balance and caps had room for.',
    ['mode', 'model', 'provider', 'reason'],
  );
  const replayed = counter(
    'replayed_total',
    'Requests answered with the stored answer of an earlier one, free of charge.',
    ['mode', 'model', 'cache'],
  );
  const active = new Gauge({
    name: 'tollgate_active_requests',
    help: 'Charged requests under way.',
    registers: [],
    collect() {
      this.set(runs.count);
    },
  });
  registry.registerMetric(active);
  const refusing = new Gauge({
    name: 'tollgate_overloaded',
    help: '1 while new charged requests are refused for this reason.',
    labelNames: ['reason'],
    registers: [],
    collect() {
      for (const reason of ['lag', 'memory'])
        this.set({ reason }, Number(overload.reason === reason));
    },
  });
  registry.registerMetric(refusing);
  registerRoutes(registry, routing.health);

  /** Each route's series, so that its labels are looked up only once. */
  const secondsByRoute = new Map<FinishedRequest['route'], Histogram.Internal<string>>();
  return {
    registry,
    meter: ({ route, status, tookMs, fields }) => {
      let series = secondsByRoute.get(route);
      if (!series) secondsByRoute.set(route, (series = seconds.labels(route ?? 'none')));
      series.observe(tookMs / 1_000);
      requests(1, route ?? 'none', String(status), fields.errorCode ?? '');
      if (!fields.mode || !fields.model) return;
      const { mode, model, provider = '' } = fields;
      if (fields.cache) replayed(1, mode, model, fields.cache);
      tokens(fields.inputTokens ?? 0, mode, model, 'input');
      tokens(fields.outputTokens ?? 0, mode, model, 'output');
      charged(fields.costMicros ?? 0, mode, model, provider);
      cost(fields.upstreamCostMicros ?? 0, mode, model, provider);
      const reason = fields.ending === 'failed' ? 'failed' : 'uncollected';
      loss(fields.lossMicros ?? 0, mode, model, provider, reason);
    },
  };
}

type CounterOptions = {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
};

/**
 * Registers a counter whose sums are kept here until Prometheus reads them: prom-client's own `inc`
 * checks, sorts and joins the labels at each call. Returns the function that counts; label values
 * come in the order of `labelNames`.
 */
function countInMemory(
  registry: Registry,
  { name, help, labelNames }: CounterOptions,
): (amount: number, ...values: string[]) => void {
  const sums = new Map<string, { readonly values: readonly string[]; sum: number }>();
  const collect = function (this: Counter) {
    this.reset();
    for (const { values, sum } of sums.values()) this.labels(...values).inc(sum);
  };
  registry.registerMetric(
    new Counter({ name, help, labelNames: [...labelNames], registers: [], collect }),
  );
  return (amount, ...values) => {
    const series = values.join('\n');
    const known = sums.get(series);
    if (known) known.sum += amount;
    else sums.set(series, { values, sum: amount });
  };
}

/** Registers the metrics of each route that was called, read from its circuit breaker. */
function registerRoutes(registry: Registry, health: RouteHealth): void {
  const register = (kind: typeof Counter | typeof Gauge, meter: RouteMeter) => {
    const collect = function (this: Counter | Gauge) {
      this.reset();
      for (const route of health.states())
        this.inc({ provider: route.provider, model: route.upstreamModel }, meter.read(route));
    };
    const { name, help } = meter;
    registry.registerMetric(
      new kind({
        name: `tollgate_${name}`,
        help,
        labelNames: ['provider', 'model'],
        registers: [],
        collect,
      }),
    );
  };
  for (const meter of routeCounters) register(Counter, meter);
  register(Gauge, routeEjected);
}

type RouteMeter = {
  readonly name: string;
  readonly help: string;
  readonly read: (route: RouteState) => number;
};

const routeCounters: readonly RouteMeter[] = [
  {
    name: 'upstream_calls_total',
    help: 'Requests sent to a provider, retries included.',
    read: ({ calls }) => calls,
  },
  {
    name: 'upstream_failures_total',
    help: 'Calls of a provider that failed.',
    read: ({ failures }) => failures,
  },
  {
    name: 'credential_refused_total',
    help: "Calls in which a provider refused the operator's credential or asked for payment.",
    read: ({ refusals }) => refusals,
  },
];
const routeEjected: RouteMeter = {
  name: 'route_ejected',
  help: '1 while the route is out of use: it is called only when no other route works.',
  read: ({ state }) => (state === 'in-use' ? 0 : 1),
};

/** Returns the handler of `GET /metrics`, which is a 404 unless the operator has set a token. */
export function getMetrics({ registry }: Metrics, token: string | undefined): Handler {
  return async (request, reply) => {
    if (token === undefined)
      throw new ApiError(
        'not_found',
        'There is no /metrics here. The operator opens it with `metrics.token`.',
      );
    if (!hasMetricsToken(request, token)) {
      throw new ApiError(
        'invalid_api_key',
        'GET /metrics needs `Authorization: Bearer <metrics.token>`.',
      );
    }
    return reply.type(registry.contentType).send(await registry.metrics());
  };
}

/**
 * Returns true when the request carries the metrics token; always false when none is configured.
 */
export function hasMetricsToken({ headers }: FastifyRequest, token: string | undefined): boolean {
  return token !== undefined && isSame(headers.authorization ?? '', `Bearer ${token}`);
}

/** Compares two texts in constant time. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
