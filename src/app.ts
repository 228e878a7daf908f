// The only place that wires the parts together: configuration in, a running gateway out.
import type { Worker } from 'node:worker_threads';
import { Billing } from './billing/billing.ts';
import { recordBooking } from './audit/record-booking.ts';
import { Activity } from './activity/activity.ts';
import { ResponseCache } from './cache/response-cache.ts';
import { loadCatalog } from './catalog/load-catalog.ts';
import type { Config } from './config/schema.ts';
import { openDatabase } from './db/database.ts';
import { prepareFirstStart, type FirstStart } from './first-start.ts';
import { AccountStandings } from './gateway/account-standings.ts';
import { ActiveRuns } from './gateway/active-runs.ts';
import type { Gateway } from './gateway/gateway.ts';
import { headerNamesOf } from './gateway/headers.ts';
import { HoldGrowths } from './gateway/hold-growth.ts';
import { openImageFiles } from './gateway/image-files.ts';
import { KeepAlives } from './gateway/keep-alives.ts';
import { connectProviders } from './gateway/providers.ts';
import { RecentBalances } from './gateway/recent-balances.ts';
import { createRateLimits } from './gateway/rate-limits.ts';
import { createRouting } from './gateway/routing.ts';
import { connectSearch } from './gateway/search-sources.ts';
import { createUpstreams } from './gateway/upstream.ts';
import { Idempotency } from './idempotency/idempotency.ts';
import { openKeyStore } from './keys/key-store.ts';
import { takeUpSecrets } from './keys/needed-secrets.ts';
import { openLedger } from './ledger/open-ledger.ts';
import { readBalance } from './ledger/queries.ts';
import { standingReads } from './ledger/standing-reads.ts';
import { openLimits } from './limits/open-limits.ts';
import type { Clock, SharedTime } from './lib/clock.ts';
import { newIdWithPrefix } from './lib/ids.ts';
import type { Logger } from './lib/log.ts';
import type { Secrets } from './lib/secrets.ts';
import type { Lifecycle } from './server/context.ts';
import { drain } from './server/drain.ts';
import { LargeBodies } from './server/large-bodies.ts';
import { memoryShareBytes, Overload } from './server/overload.ts';
import { openUsers } from './server/dashboard-api/users.ts';
import { createServer } from './server/server.ts';
import { urlOf } from './server/server-url.ts';

export type App = {
  /** Where it listens, as a client on this machine reaches it. */
  readonly url: string;
  /** Where browsers reach the dashboard. */
  readonly publicUrl: string;
  readonly gateway: Gateway;
  readonly firstStart: FirstStart;
  /** Refuses new work, lets open requests finish within the configured time, ends the rest free of charge, and closes everything. */
  readonly stop: () => Promise<void>;
};

export type AppOptions = {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly log: Logger;
  /** The books can no longer be written: nothing can be charged, so the process must end and be started anew. */
  readonly onLedgerFailure: (error: Error) => void;
  /** The ledger's thread, if it was started ahead. */
  readonly ledgerWorker?: Worker;
  readonly clock: Clock;
  /** For tests: the time of windows and leases, which is the database's else. */
  readonly databaseTime?: SharedTime;
};

/** Throws when the configuration cannot work: a bad catalogue, an unusable database, a port in use. */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, secrets, log, onLedgerFailure: onFailure, ledgerWorker: worker, clock, databaseTime } = options;
  const catalog = loadCatalog(config);
  const database = openDatabase(config.database.url);
  await database.migrate();
  await takeUpSecrets(database, secrets, clock.nowMs());
  const owner = newIdWithPrefix('run');
  const report = (message: string) => (err: unknown) => log.error({ err }, message);
  const onTrouble = report('the ledger cannot be written; it is tried again');
  const ledger = await openLedger({ databaseUrl: database.url, owner, onFailure, onTrouble, worker, clock, databaseTime });
  const keys = openKeyStore({ database, secrets, onError: report('keys cannot be read or digested anew'), clock });
  const balances = new RecentBalances({ ledger, read: (ledgerId) => readBalance(database.read, ledgerId), clock });
  const kept = { database, secrets, clock, onError: report('kept answers cannot be read or tidied up; it is tried again') };
  const limits = openLimits({ database, owner, clock, databaseTime, onError: report('rate limits cannot be shared') });
  const standings = new AccountStandings({ ...standingReads(database.read, { limits: config.limits, clock }), log, clock });
  const { answer_bytes: answerBytes, memory_bytes: memoryBytes } = config.overload;
  const { memory_bytes: cacheBytes, disk_bytes: diskBytes, body_limit_bytes: bodyBytesMax } = config.cache;
  const upstreams = createUpstreams({ clock, largeAnswerBytesMax: memoryShareBytes(answerBytes, memoryBytes) });
  const routing = createRouting(config, { log, clock });
  const activity = new Activity({ database, clock, onError: report('activity cannot be written; it is tried again') });
  const gateway: Gateway = {
    config,
    catalog,
    ledger: balances.ledger,
    readBalance: (ledgerId) => balances.read(ledgerId),
    idempotency: new Idempotency({ ...kept, owner, bodyBytesMax: config.idempotency.body_limit_bytes }),
    cache: new ResponseCache({ ...kept, memoryBytes: cacheBytes, diskBytes, bodyBytesMax }),
    providers: connectProviders(config, secrets[0]),
    upstreams,
    rateLimits: createRateLimits({ ...limits, defaults: config.limits, isUnpaid: (key) => standings.isUnpaid(key) }),
    standings,
    searchers: connectSearch({ config, upstreams, health: routing.health, activity, log, clock }),
    images: openImageFiles({ config, secrets, clock, onError: report('images cannot be kept, read or removed') }),
    headers: headerNamesOf(config.service.name),
    log,
    clock,
    owner,
    runs: new ActiveRuns(clock),
    keepAlives: new KeepAlives(config.limits.stream_keep_alive_ms, clock),
    growths: new HoldGrowths(clock),
    routing,
    activity,
  };
  const lifecycle: Lifecycle = { phase: 'serving', readinessAskedMs: -Infinity };
  const overload = new Overload({ lagMs: config.overload.lag_ms, memoryBytes: config.overload.memory_bytes }, { log, clock });
  const publicUrl = (): string => config.server.public_url ?? urlOf(server);
  const office = { database, config, ledger: gateway.ledger, log, clock };
  const users = openUsers({ ...office, secrets, publicUrl });
  const billing = new Billing({ ...office, recordBooking, sendWarning: users.sendWarning });
  const parts = { gateway, keys, lifecycle, overload, largeBodies: new LargeBodies(), database, secrets, billing, users };
  const server = createServer(parts);
  await server.listen({ host: config.server.host, port: config.server.port });
  // Last, since key and link are shown only once: a start that fails, because the port is taken, must not use them up.
  const firstStart = await prepareFirstStart(database, secrets, clock.nowMs());
  const stop = async () => {
    await drain(server, { lifecycle, runs: gateway.runs, clock, settings: config.server });
    for (const part of [gateway.idempotency, gateway.cache, gateway.keepAlives, gateway.growths, overload]) part.close();
    await Promise.all([gateway.upstreams.close(), gateway.images.close(), limits.close(), billing.close()]);
    for (const part of [keys, activity, ledger, database]) await part.close();
  };
  return { url: urlOf(server), publicUrl: publicUrl(), gateway, firstStart, stop };
}
