// What is read at a scrape, in each HTTP thread. What is the same in all threads is read in the
// first only. docs/metrics.md lists all metrics.
import packageJson from '../../../package.json' with { type: 'json' };
import { isPostgresUrl } from '../../db/database.ts';
import type { PoolState } from '../../db/pool-state.ts';
import type { RouteState } from '../../gateway/calling/health.ts';
import type { Gauges, Sample } from '../../lib/metrics/registry.ts';
import type { BodyRoom, RoomsByMode } from '../body-room.ts';
import type { ServerContext } from '../context.ts';
import { bookGauges } from './book-gauges.ts';
import { addProcessGauges, addThreadGauges } from './node-metrics.ts';

/** `rooms`: for large bodies. `arriving`: for those that are not complete. */
type BodyRooms = { readonly rooms: RoomsByMode; readonly arriving: BodyRoom };

export function addGauges(context: ServerContext, bodies: BodyRooms): void {
  const { gateway, metrics, threads } = context;
  if (threads.isFirst) addProcessGauges(metrics, gateway.clock);
  if (threads.isFirst) metrics.addGauges(bookGauges(context));
  addThreadGauges(metrics);
  metrics.addGauges({ ...ownGauges(context, bodies), ...poolGauges(context) });
  metrics.addGauges(sharedGauges(context), 'max');
}

/** What each thread has for itself. */
function ownGauges({ gateway, telemetry }: ServerContext, { rooms, arriving }: BodyRooms): Gauges {
  const { runs, observe, hosts } = gateway;
  const { bodies } = observe;
  const { upstreams } = hosts;
  const by = (label: string, counts: Readonly<Record<string, number>>, labels = {}) =>
    Object.entries(counts).map(([of, value]) => ({ labels: { ...labels, [label]: of }, value }));
  return {
    tollgate_active_requests: ['Charged requests under way.', () => runs.count],
    tollgate_arriving_body_bytes: [
      'Bytes that have arrived of bodies that are not complete.',
      () => arriving.bytes,
    ],
    tollgate_waiting_bodies: [
      'Requests with large bodies that wait for memory.',
      () => rooms.live.waiting + rooms.test.waiting,
    ],
    tollgate_upstream_sockets: [
      'Open connections to a provider.',
      () =>
        upstreams
          .sockets()
          .flatMap(({ provider, used, idle }) => by('state', { used, idle }, { provider })),
    ],
    tollgate_upstream_waiting_calls: [
      'Calls that wait for a connection to a provider.',
      () =>
        upstreams
          .sockets()
          .map(({ provider, waiting }) => ({ labels: { provider }, value: waiting })),
    ],
    tollgate_account_spans_total: [
      'Spans that accounts export to receivers of their own, by what became of them.',
      () => by('outcome', telemetry.accounts.total),
    ],
    tollgate_kept_bodies_total: [
      'Requests whose key keeps bodies, by whether they were stored or dropped for lack of memory.',
      () => by('outcome', bodies.total),
    ],
  };
}

/** What threads know from one another, so that each reads the same or nearly so. */
function sharedGauges({ gateway, database, settings, overload, threads }: ServerContext): Gauges {
  const { version } = packageJson;
  const store = isPostgresUrl(database.url) ? 'postgres' : 'sqlite';
  const ofRoutes = (value: (route: RouteState) => number) => () =>
    gateway.hosts.routing.health.states().map((route) => ({
      labels: { provider: route.provider, model: route.upstreamModel },
      value: value(route),
    }));
  return {
    tollgate_upstream_calls_total: [
      'Calls that were sent to a route, a provider with one of its models, retries included.',
      ofRoutes(({ calls }) => calls),
    ],
    tollgate_upstream_failures_total: [
      "Calls that failed by the route's fault.",
      ofRoutes(({ failures }) => failures),
    ],
    tollgate_credential_refused_total: [
      "Calls in which a provider refused the operator's credential or asked for payment.",
      ofRoutes(({ refusals }) => refusals),
    ],
    tollgate_route_ejected: [
      '1 while the circuit breaker of the route is open: it is called only when no other route works.',
      ofRoutes(({ state }) => (state === 'in-use' ? 0 : 1)),
    ],
    tollgate_overloaded: [
      '1 while new charged requests are refused for this reason.',
      () =>
        ['lag', 'memory'].map((reason) => ({
          labels: { reason },
          value: Number(overload.reason === reason),
        })),
    ],
    tollgate_ledger_failing: [
      '1 while the ledger cannot be written.',
      () => Number(gateway.books.ledger.isFailing()),
    ],
    tollgate_settings_refused: [
      '1 while the gateway goes on with earlier settings, because it cannot use the newest or its file.',
      async () => Number((await settings.state()).problem !== null),
    ],
    tollgate_build_info: [
      'Always 1; the labels tell the version, the kind of database and the number of HTTP threads.',
      () => [{ labels: { version, database: store, threads: String(threads.count) }, value: 1 }],
    ],
  };
}

function poolGauges({ database, gateway }: ServerContext): Gauges {
  const { ledger } = gateway.books;
  const ofPools = (samplesOf: (pool: PoolState) => readonly Sample[]) => () =>
    [...database.pools(), ...(ledger.pool ? [ledger.pool()] : [])].flatMap(samplesOf);
  return {
    tollgate_database_connections: [
      'Open connections to PostgreSQL. None on SQLite.',
      ofPools(({ name: pool, used, idle }) => [
        { labels: { pool, state: 'used' }, value: used },
        { labels: { pool, state: 'idle' }, value: idle },
      ]),
    ],
    tollgate_database_connections_max: [
      'The most connections that the pool may open. None on SQLite.',
      ofPools(({ name: pool, max }) => [{ labels: { pool }, value: max }]),
    ],
    tollgate_database_waiting: [
      'Queries that wait for a connection to PostgreSQL. None on SQLite.',
      ofPools(({ name: pool, waiting }) => [{ labels: { pool }, value: waiting }]),
    ],
  };
}
