// The only place that wires the parts together: takes the configuration, starts the gateway.
import type { Worker } from 'node:worker_threads';
import { Billing } from './domain/billing/billing.ts';
import { recordBooking } from './domain/audit/audit-log.ts';
import { Activity } from './domain/activity/activity.ts';
import { ResponseCache } from './domain/cache/response-cache.ts';
import { loadCatalog } from './domain/catalog/load-catalog.ts';
import type { Config } from './config/schema.ts';
import { openDatabase } from './db/database.ts';
import { prepareFirstStart, type FirstStart } from './first-start.ts';
import { AccountStandings } from './gateway/admission/account-standings.ts';
import { ActiveRuns } from './gateway/active-runs.ts';
import type { Gateway } from './gateway/gateway.ts';
import { headerNamesOf } from './gateway/headers.ts';
import { HoldGrowths } from './gateway/charging/hold-growth.ts';
import { openImageFiles } from './gateway/images/image-files.ts';
import { KeepAlives } from './gateway/keep-alives.ts';
import { connectProviders } from './gateway/routing/providers.ts';
import { RecentBalances } from './gateway/recent-balances.ts';
import { RateLimits } from './gateway/admission/rate-limits.ts';
import { createRouting } from './gateway/routing/routing.ts';
import { connectSearch } from './gateway/search/search-sources.ts';
import { createUpstreams } from './gateway/calling/upstreams.ts';
import { Idempotency } from './domain/idempotency/idempotency.ts';
import { openKeyStore } from './domain/keys/key-store.ts';
import { registerSecrets } from './domain/keys/needed-secrets.ts';
import { openLedger } from './domain/ledger/open-ledger.ts';
import { readBalance } from './domain/ledger/reports/queries.ts';
import { standingReads } from './domain/ledger/reports/standing-reads.ts';
import { openLimits } from './domain/limits/open-limits.ts';
import type { Clock, SharedTime } from './lib/clock.ts';
import { newIdWithPrefix } from './lib/ids.ts';
import type { Logger } from './lib/log.ts';
import type { Secrets } from './lib/secrets.ts';
import type { Lifecycle } from './server/context.ts';
import { drain } from './server/drain.ts';
import { LargeBodies } from './server/large-bodies.ts';
import { memoryShareBytes, Overload } from './server/overload.ts';
import { addDashboardApi } from './dashboard-api/dispatch.ts';
import { openUsers } from './dashboard-api/users.ts';
import { createServer } from './server/server.ts';
import { urlOf } from './server/server-url.ts';

export type App = {
  /** The address as a client on this machine reaches it. */
  readonly url: string;
  /** The address where browsers reach the dashboard. */
  readonly publicUrl: string;
  readonly gateway: Gateway;
  readonly firstStart: FirstStart;
  /** Refuses new work, drains within the configured time, aborts the rest free of charge. */
  readonly stop: () => Promise<void>;
};

type AppOptions = {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly log: Logger;
  /** Called when nothing can be charged any more: the process must end and be restarted. */
  readonly onLedgerFailure: (error: Error) => void;
  /** The ledger's thread, if it was started early. */
  readonly ledgerWorker?: Worker;
  readonly clock: Clock;
  /** For tests: the time of rate-limit windows and leases. Default: the database's time. */
  readonly databaseTime?: SharedTime;
};

/** Throws when the configuration cannot work: bad catalogue, unusable database, port in use. */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, secrets, log, clock } = options;
  // First, because a bad catalogue must not touch the database.
  const catalog = loadCatalog(config);
  const stores = await openStores(options);
  const { database, keys, limits } = stores;
  const gateway = createGateway(options, { ...stores, catalog });
  const lifecycle: Lifecycle = { phase: 'serving', readinessAskedMs: -Infinity };
  const overload = new Overload(
    { lagMs: config.overload.lag_ms, memoryBytes: config.overload.memory_bytes },
    { log, clock },
  );
  const publicUrl = (): string => config.server.public_url ?? urlOf(server);
  const office = { database, config, ledger: gateway.ledger, log, clock };
  const users = openUsers({ ...office, secrets, publicUrl });
  const billing = new Billing({ ...office, recordBooking, sendWarning: users.sendWarning });
  const parts = {
    gateway,
    keys,
    lifecycle,
    overload,
    largeBodies: new LargeBodies(),
    database,
    secrets,
    billing,
  };
  const server = createServer(parts, (app, memoryWait) =>
    addDashboardApi(app, { ...parts, users }, memoryWait),
  );
  await server.listen({ host: config.server.host, port: config.server.port });
  // Last, because key and link are shown only once: a failed start must not use them up.
  const firstStart = await prepareFirstStart(database, secrets, clock);
  const stop = async () => {
    await drain(server, { lifecycle, runs: gateway.runs, clock, settings: config.server });
    const { idempotency, cache, keepAlives, growths, upstreams, images } = gateway;
    for (const part of [idempotency, cache, keepAlives, growths, overload]) part.close();
    await Promise.all([upstreams.close(), images.close(), limits.close(), billing.close()]);
    for (const part of [keys, gateway.activity, stores.ledger, database]) await part.close();
  };
  return { url: urlOf(server), publicUrl: publicUrl(), gateway, firstStart, stop };
}

type Stores = Awaited<ReturnType<typeof openStores>>;

/** Opens and migrates the database, and opens what writes to it. */
async function openStores(options: AppOptions) {
  const { config, secrets, clock, databaseTime, onLedgerFailure, ledgerWorker } = options;
  const report = reporter(options.log);
  const database = openDatabase(config.database.url);
  await database.migrate();
  await registerSecrets(database, secrets, clock.nowMs());
  const owner = newIdWithPrefix('run');
  const runs = new ActiveRuns(clock);
  const ledger = await openLedger({
    databaseUrl: database.url,
    owner,
    onFailure: onLedgerFailure,
    onTrouble: report('the ledger cannot be written; retrying'),
    isStopping: () => runs.isEnding,
    worker: ledgerWorker,
    clock,
    databaseTime,
  });
  const keys = openKeyStore({
    database,
    secrets,
    onError: report('keys cannot be read or rehashed'),
    clock,
  });
  const limits = openLimits({
    database,
    owner,
    clock,
    databaseTime,
    onError: report('rate limits cannot be shared'),
  });
  return { database, owner, runs, ledger, keys, limits };
}

function createGateway(
  { config, secrets, log, clock }: AppOptions,
  { catalog, database, owner, runs, ledger, limits }: Stores & Pick<Gateway, 'catalog'>,
): Gateway {
  const report = reporter(log);
  const balances = new RecentBalances({
    ledger,
    read: (ledgerId) => readBalance(database.read, ledgerId),
    clock,
  });
  const answers = {
    database,
    secrets,
    clock,
    onError: report('stored answers cannot be read or cleaned up; retrying'),
  };
  const standings = new AccountStandings({
    ...standingReads(database.read, { limits: config.limits, clock }),
    log,
    clock,
  });
  const { cache, overload, idempotency } = config;
  const upstreams = createUpstreams({
    clock,
    largeAnswerBytesMax: memoryShareBytes(overload.answer_bytes, overload.memory_bytes),
  });
  const routing = createRouting(config, { log, clock });
  const activity = new Activity({
    database,
    clock,
    onError: report('activity cannot be written; retrying'),
  });
  return {
    config,
    catalog,
    ledger: balances.ledger,
    readBalance: (ledgerId) => balances.read(ledgerId),
    idempotency: new Idempotency({
      ...answers,
      owner,
      bodyBytesMax: idempotency.body_limit_bytes,
    }),
    cache: new ResponseCache({
      ...answers,
      memoryBytes: cache.memory_bytes,
      diskBytes: cache.disk_bytes,
      bodyBytesMax: cache.body_limit_bytes,
    }),
    providers: connectProviders(config, secrets[0]),
    upstreams,
    rateLimits: new RateLimits({
      ...limits,
      defaults: config.limits,
      isUnpaid: (key) => standings.isUnpaid(key),
    }),
    standings,
    searchers: connectSearch({ config, upstreams, health: routing.health, activity, log, clock }),
    images: openImageFiles({
      config,
      secrets,
      clock,
      onError: report('images cannot be stored, read or removed'),
    }),
    headers: headerNamesOf(config.service.name),
    log,
    clock,
    owner,
    runs,
    keepAlives: new KeepAlives(config.limits.stream_keep_alive_ms, clock),
    growths: new HoldGrowths(clock),
    routing,
    activity,
  };
}

/** Returns a function that makes a callback for errors of one kind. */
function reporter(log: Logger): (message: string) => (err: unknown) => void {
  return (message) => (err) => log.error({ err }, message);
}
