// Wires the parts of one HTTP thread together: the gateway, its server, the dashboard's API and
// the admin API.
import { Billing } from './domain/billing/billing.ts';
import { Activity } from './domain/activity/activity.ts';
import { KeptBodies } from './domain/bodies/kept-bodies.ts';
import { ResponseCache } from './domain/cache/response-cache.ts';
import type { Config } from './config/schema.ts';
import type { Database } from './db/database.ts';
import { AccountTrust } from './gateway/charging/account-trust.ts';
import type { ActiveRuns } from './gateway/active-runs.ts';
import type { Gateway } from './gateway/gateway.ts';
import { InForce } from './gateway/routing/in-force.ts';
import { headerNamesOf } from './terms/header-names.ts';
import { HoldGrowths } from './gateway/charging/hold-growth.ts';
import { answerFilesIn, openImageFiles } from './gateway/images/image-files.ts';
import { KeepAlives } from './gateway/keep-alives.ts';
import { Meter } from './gateway/meter.ts';
import { LongAnswers } from './gateway/limits/long-answers.ts';
import { RateLimits } from './gateway/limits/rate-limits.ts';
import { createRouting } from './gateway/routing/routing.ts';
import { logFailures } from './gateway/calling/log-failures.ts';
import { createUpstreams } from './gateway/calling/upstreams.ts';
import { Idempotency } from './domain/idempotency/idempotency.ts';
import type { ApiKey } from './domain/keys/api-key.ts';
import { openKeyStore } from './domain/keys/key-store.ts';
import type { Command, LedgerId } from './domain/ledger/commands.ts';
import { Sealing } from './domain/ledger/seals/sealing.ts';
import { type Balance, readBalance } from './domain/ledger/reports/queries.ts';
import { standingReads } from './domain/ledger/reports/standing-reads.ts';
import { Telemetry } from './domain/telemetry/telemetry.ts';
import type { Clock } from './lib/clock.ts';
import { closeInTime } from './lib/close-in-time.ts';
import { RecentReads } from './lib/recent-reads.ts';
import type { Logger } from './lib/log.ts';
import { Registry } from './lib/metrics/registry.ts';
import type { Secrets } from './lib/secrets.ts';
import { openBatches } from './server/batches/open-batches.ts';
import type { Lifecycle } from './server/context.ts';
import { drain } from './server/drain.ts';
import { LargeBodies } from './server/large-bodies.ts';
import { Overload, overloaded } from './server/overload.ts';
import { Alerts } from './management/alerts/alerts.ts';
import { addManagement } from './management/dispatch.ts';
import { openDeviceLogins } from './management/sign-in/device-logins.ts';
import { openUsers } from './management/user-services.ts';
import { logRequests } from './server/request-lines.ts';
import { answerBytesMax, createServer } from './server/server.ts';
import { urlOf } from './server/server-url.ts';
import type { Shared } from './threads/shared.ts';

/** A gateway that serves HTTP in this thread. */
export type Serving = {
  /** The address as a client on this machine reaches it. */
  readonly url: string;
  readonly gateway: Gateway;
  readonly metrics: Registry;
  readonly use: InForce['use'];
  /**
   * Refuses new work, drains within the configured time, aborts the rest free of charge.
   * `readinessAskedMs`: how long ago a load balancer asked another thread.
   */
  readonly stop: (readinessAskedMs?: number) => Promise<void>;
};

export type ServingOptions = {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly log: Logger;
  readonly clock: Clock;
};

export type Stores = {
  readonly database: Database;
  readonly runs: ActiveRuns;
  readonly shared: Shared;
};

/** Serves HTTP in this thread. `reusePort`: other threads listen on the port too. */
export async function startServing(
  options: ServingOptions,
  stores: Stores,
  { reusePort = false } = {},
): Promise<Serving> {
  const { config, secrets, log, clock } = options;
  const { database, shared } = stores;
  const { threads, addressRates } = shared;
  const metrics = new Registry();
  const { gateway, use } = createGateway(options, { ...stores, metrics });
  const keys = openKeyStore({
    database,
    secrets,
    onError: reporter(log)('keys cannot be read or rehashed'),
    clock,
  });
  const lifecycle: Lifecycle = { phase: 'serving', readinessAskedMs: -Infinity };
  const overload = new Overload(
    {
      lagMs: config.overload.lag_ms,
      memoryBytes: config.overload.memory_bytes,
      sumMemory: threads.sumMemory,
      // They are free, and last as long as their senders say.
      onFull: () => gateway.runs.stopTests(overloaded),
    },
    { log, clock },
  );
  const publicUrl = (): string => config.server.public_url ?? urlOf(server);
  const forManagement = { database, config, ledger: gateway.books.ledger, log, clock };
  const users = openUsers({ ...forManagement, secrets, addressRates, publicUrl });
  const alerts = new Alerts({ ...forManagement, gateway, secrets, users, publicUrl });
  const billing = new Billing({ ...forManagement, ...alerts.notesOfPayments });
  const sealing = new Sealing({ database, retention: config.retention, log, clock });
  const telemetry = new Telemetry(config.telemetry, {
    ...forManagement,
    secrets,
    registry: metrics,
  });
  const { books, hosts, observe } = gateway;
  const ofCalls = [hosts.routing.health, books.trust, observe.meter, observe.activity, alerts];
  const listeners = [logRequests(log), logFailures(log), ...ofCalls, telemetry.metrics, telemetry];
  const largeBodies = new LargeBodies();
  const forLines = { gateway, database, secrets, keys, overload, largeBodies, listeners };
  const batches = openBatches(forLines);
  const parts = {
    ...forLines,
    batches,
    sealing,
    addressRates,
    deviceLogins: openDeviceLogins({ ...forManagement, secrets }),
    threads,
    settings: shared.settings,
    lifecycle,
    telemetry,
    billing,
    metrics,
  };
  const server = createServer(parts, (app, memoryWait) => {
    addManagement(app, { ...parts, users, alerts }, memoryWait);
  });
  const { host, port } = config.server;
  // Node takes `reusePort`, which Fastify's types do not know yet.
  await server.listen(Object.assign({ host, port }, { reusePort }));
  batches.queue.start({ removesExpired: threads.isFirst });
  if (threads.isFirst) for (const part of [billing, sealing, alerts]) part.start();
  const stop: Serving['stop'] = async (readinessAskedMs = Infinity) => {
    const askedMs = Math.max(lifecycle.readinessAskedMs, clock.elapsedMs() - readinessAskedMs);
    lifecycle.readinessAskedMs = askedMs;
    batches.queue.stop();
    await drain(server, { lifecycle, runs: gateway.runs, clock, settings: config.server });
    const { keepAlives, images, answers } = gateway;
    const { idempotency, cache } = answers;
    for (const part of [idempotency, cache, keepAlives, books.growths, overload]) part.close();
    const { activity, bodies } = observe;
    const working = [hosts.upstreams, images, billing, sealing, alerts];
    const closing = [[batches.queue], working, [telemetry, keys, activity, bodies]];
    await closeInTime({ parts: closing, stores: [[shared], [database]], clock });
  };
  return { url: urlOf(server), gateway, metrics, use, stop };
}

function createGateway(
  { config, secrets, log, clock }: ServingOptions,
  { database, runs, shared, metrics }: Stores & { readonly metrics: Registry },
): Pick<Serving, 'gateway' | 'use'> {
  const { owner, ledger, limits, threads, health } = shared;
  const report = reporter(log);
  const meter = new Meter(metrics);
  // For answers that cost nothing but report the balance. Another process may have changed it.
  const balances = new RecentReads<LedgerId, Balance>({
    read: (ledgerId) => readBalance(database.read, ledgerId),
    keptForMs: 1_000,
    clock,
  });
  const noteEnd = (command: Command) =>
    'ledgerId' in command ? balances.forget(command.ledgerId) : balances.forgetAll();
  const answers = {
    database,
    secrets,
    clock,
    onError: report('stored answers or bodies cannot be read, stored or removed; retrying'),
  };
  const trust = new AccountTrust({
    ...standingReads(database.read, { limits: config.limits, clock }),
    shared,
    log,
    clock,
  });
  const { cache, tuning } = config;
  const largeAnswerBytesMax = answerBytesMax(config, threads.count);
  const upstreams = createUpstreams({ clock, largeAnswerBytesMax });
  const routing = createRouting(config, { log, clock, shared: health, threads: threads.count });
  const activity = new Activity({
    database,
    historyDays: config.history.days,
    removesOutdated: threads.isFirst,
    clock,
    onError: report('activity cannot be written; retrying'),
  });
  const images = openImageFiles({
    config,
    secrets,
    // In a request they are base64, too.
    fetchedBytesMax: largeAnswerBytesMax / 3,
    removesExpired: threads.isFirst,
    clock,
    onError: report('images or long answers cannot be stored, read or removed'),
  });
  const files = answerFilesIn(images.store);
  const bodyBytesMax = tuning.storedAnswerBytes;
  const isUnpaid = (key: ApiKey) => trust.isUnpaid(key);
  const bodies = new KeptBodies({ ...answers, config, threads });
  const observe = { activity, meter, bodies };
  const inForce = new InForce(config, { secret: secrets[0], upstreams, routing, limits, clock });
  const gateway: Gateway = {
    ...inForce.now,
    books: {
      ledger: meter.measure(ledger, clock, noteEnd),
      readBalance: (ledgerId) => balances.read(ledgerId),
      trust,
      growths: new HoldGrowths(clock),
      owner,
      log,
      clock,
    },
    answers: {
      idempotency: new Idempotency({ ...answers, owner, bodyBytesMax, files }),
      cache: new ResponseCache({
        ...answers,
        threads: threads.count,
        diskBytes: cache.disk_bytes,
        bodyBytesMax,
        locks: shared.nameLocks,
      }),
      dailyBytes: shared.dailyBytes,
    },
    observe,
    rateLimits: new RateLimits({ ...limits, defaults: config.limits, isUnpaid }),
    longAnswers: {
      live: new LongAnswers(largeAnswerBytesMax * 0.75),
      test: new LongAnswers(largeAnswerBytesMax * 0.25),
    },
    images,
    headers: headerNamesOf(config.service.name),
    runs,
    keepAlives: new KeepAlives(clock),
    log,
    clock,
  };
  const use: InForce['use'] = (...asked) => {
    inForce.use(...asked);
    // No getters, because each request copies the gateway.
    Object.assign(gateway, inForce.now);
  };
  return { gateway, use };
}

/** Returns a function that makes a callback for errors of one kind. */
function reporter(log: Logger): (message: string) => (err: unknown) => void {
  return (message) => (err) => log.error({ err }, message);
}
