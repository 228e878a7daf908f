// Metrics for Prometheus at `GET /metrics`. docs/metrics.md lists them. Each thread has a registry;
// what is the same in all threads is in that of the first only.
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { ServerContext } from '../context.ts';
import type { RecordRequest } from '../record-request.ts';
import { bookMetrics, ledgerMetrics } from './book-metrics.ts';
import { register } from './metric.ts';
import { moneyMetrics } from './money-metrics.ts';
import { accountSpans, buildInfo, keptBodies, poolMetrics } from './process-metrics.ts';
import { RequestMetrics } from './request-metrics.ts';
import { upstreamMetrics } from './upstream-metrics.ts';

export type Metrics = { readonly registry: Registry; readonly meter: RecordRequest };

export function createMetrics(
  context: Pick<
    ServerContext,
    'gateway' | 'database' | 'overload' | 'sealing' | 'billing' | 'threads' | 'telemetry'
  >,
): Metrics {
  const { gateway, threads } = context;
  const { runs, meter, upstreams, routing } = gateway;
  const registry = new Registry();
  registerNode(registry, threads.isFirst);
  const requests = new RequestMetrics();
  const sources = { ...context, meter, ledger: gateway.ledger, clock: gateway.clock };
  register(registry, [
    ...requests.list({ runs, overload: context.overload }),
    ...moneyMetrics(meter),
    ...upstreamMetrics({ meter, upstreams, health: routing.health }),
    ...ledgerMetrics(sources),
    ...(threads.isFirst ? bookMetrics(sources) : []),
    accountSpans(context.telemetry.accounts.total),
    keptBodies(gateway.bodies.total),
    ...poolMetrics(sources),
    buildInfo(sources),
  ]);
  return { registry, meter: requests.record };
}

/**
 * Registers prom-client's metrics of the process and of Node.js, but not the gauges whose names end
 * in `_total`, because only counters may.
 */
function registerNode(registry: Registry, isFirst: boolean): void {
  collectDefaultMetrics({ register: registry });
  for (const { name } of registry.getMetricsAsArray()) {
    const isOfProcess = /^(process_|nodejs_version_info)/.test(name);
    if (/^nodejs_active_.*_total$/.test(name) || (isOfProcess && !isFirst))
      registry.removeSingleMetric(name);
  }
}
