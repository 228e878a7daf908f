// Starts a process with several HTTP threads. This thread opens the database and the ledger, keeps
// what the others share, and writes the log.
import { once } from 'node:events';
import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net';
import { Worker } from 'node:worker_threads';
import type { App, AppOptions } from '../app.ts';
import type { Config } from '../config/schema.ts';
import { isPostgresUrl } from '../db/database.ts';
import { DatabaseUnusable } from '../db/database-error.ts';
import { loadCatalog } from '../domain/catalog/load-catalog.ts';
import { type AddressRates, addressRatesInMemory } from '../domain/limits/address-rates.ts';
import { type DailyBytes, dailyBytesInMemory } from '../domain/limits/daily-bytes.ts';
import { LimitsBook } from '../domain/limits/thread-limits.ts';
import { prepareFirstStart } from '../first-start.ts';
import { type RouteName, shareHealth, withFurther } from '../gateway/calling/shared-health.ts';
import { routeNamesOf } from '../gateway/routing/route-names.ts';
import { timeLimit } from '../lib/clock.ts';
import { closeInTime } from '../lib/close-in-time.ts';
import { newIdWithPrefix } from '../lib/ids.ts';
import type { LogOutput } from '../lib/log-output.ts';
import { writeMetrics } from '../lib/metrics/prometheus.ts';
import { NameLockBook } from '../lib/name-locks.ts';
import { connectThread, type Remote } from '../lib/thread-calls.ts';
import type { MainCalls, ThreadCalls, ThreadSettings } from './calls.ts';
import { LiveConfig } from './live-config.ts';
import { openOwnLedger, prepareDatabase } from './shared.ts';

export type ThreadsOptions = AppOptions & {
  readonly output: LogOutput;
  /** Called when a thread has ended by itself: the process must end and be restarted. */
  readonly onThreadFailure: (error: Error) => void;
};

/** Returns HTTP threads that load their code and wait for their settings. */
export function prepareThreads(count: number): Worker[] {
  // The file is beside this one, in source and in the build.
  const file = import.meta.url.endsWith('.ts') ? './http-thread.ts' : './http-thread.js';
  return Array.from({ length: count }, () => new Worker(new URL(file, import.meta.url)));
}

/** Throws when the configuration cannot work, as `startApp` does. */
export async function startThreads(
  workers: readonly Worker[],
  options: ThreadsOptions,
): Promise<App> {
  const { secrets, clock } = options;
  // First, because a bad catalogue must not touch the database.
  loadCatalog(options.config);
  const database = await prepareDatabase(options, { threads: workers.length });
  const live = await LiveConfig.open({ ...options, database });
  const { config } = live;
  const catalog = loadCatalog(config);
  const hub = new Hub(workers, options, live);
  const owner = newIdWithPrefix('run');
  let isStopping = false;
  if (isPostgresUrl(database.url)) await options.ledgerWorker?.terminate();
  const ledger = isPostgresUrl(database.url)
    ? null
    : await openOwnLedger(owner, { ...options, database, isStopping: () => isStopping });
  const claim = await claimPort(config.server);
  const shared = {
    config: { ...config, server: { ...config.server, port: claim.port } },
    secrets,
    count: workers.length,
    health: shareHealth(routeNamesOf(config, catalog)),
    memoryUsed: new Float64Array(new SharedArrayBuffer(workers.length * 8)),
  };
  let { health } = shared;
  const urls = await hub.start((index) => {
    const port = ledger?.openPort?.() ?? null;
    return { ...shared, index, ledger: port && { owner, port } };
  });
  // Last, because key and link are shown only once: a failed start must not use them up.
  const firstStart = await prepareFirstStart(database, secrets, clock);
  live.follow(async (changed) => {
    health = { ...health, names: withFurther(health, routeNamesOf(changed, loadCatalog(changed))) };
    await hub.useConfig({ ...changed, server: shared.config.server }, health.names);
  });
  return {
    url: urls[0]!,
    config,
    catalog,
    firstStart,
    reread: () => live.reread(),
    countRunning: () => hub.countRunning(),
    flushLogs: () => hub.flushLogs(),
    stop: async () => {
      isStopping = true;
      live.close();
      await hub.stop();
      await closeInTime({ parts: [], stores: [ledger ? [ledger] : [], [database]], clock });
      claim.release();
    },
  };
}

type PortClaim = { readonly port: number; readonly release: () => void };

/**
 * Claims the configured port, or a free one. Throws when another process listens there. The threads
 * share their port, so any other process of the same user could share it too without an error. So
 * an abstract Unix socket is kept as a claim that excludes other gateways, and a socket that does
 * not share is bound for a moment, which excludes other programs.
 */
async function claimPort({ host, port: configured }: Config['server']): Promise<PortClaim> {
  const probe = await listen({ host, port: configured });
  const { port } = probe.address() as AddressInfo;
  try {
    const claim = await listen({ path: `\0tollgate ${host}:${port}` });
    return { port, release: () => claim.close() };
  } finally {
    await close(probe);
  }
}

async function listen(place: ListenOptions): Promise<Server> {
  const server = createServer().listen(place);
  await once(server, 'listening');
  return server.unref();
}

async function close(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}

type HttpThread = { readonly worker: Worker; readonly remote: Remote<ThreadCalls> };

/** The longest time for the threads to pass on their log lines when the process dies. */
const flushMs = 200;

/** The main thread's side of all HTTP threads. */
class Hub {
  readonly #options: ThreadsOptions;
  readonly #live: LiveConfig;
  readonly #threads: readonly HttpThread[];
  readonly #listening: readonly PromiseWithResolvers<string>[];
  /** Rejects when a thread ends during the start. */
  readonly #failed = Promise.withResolvers<never>();
  readonly #limits: LimitsBook;
  readonly #addressRates: AddressRates;
  readonly #dailyBytes: DailyBytes;
  readonly #names: NameLockBook<number>;
  readonly #stopped = new Set<number>();
  #readinessAskedMs = -Infinity;
  #hasStarted = false;

  constructor(workers: readonly Worker[], options: ThreadsOptions, live: LiveConfig) {
    this.#options = options;
    this.#live = live;
    this.#limits = new LimitsBook(options.clock.nowMs);
    this.#addressRates = addressRatesInMemory(options.clock.nowMs);
    this.#dailyBytes = dailyBytesInMemory(options.config, options.clock);
    this.#names = new NameLockBook(({ thread, ticket }, isAwaited) =>
      this.#threads[thread]!.remote.tell('noteNameAwaited', ticket, isAwaited),
    );
    // It may fail before `start` waits for it.
    this.#failed.promise.catch(() => {});
    this.#listening = workers.map(() => Promise.withResolvers<string>());
    this.#threads = workers.map((worker, index) => {
      worker.on('error', (error) => this.#noteEnd(index, error as Error));
      worker.on('exit', () => this.#noteEnd(index, new Error('an HTTP thread has ended')));
      return { worker, remote: connectThread<ThreadCalls>(worker, this.#callsOf(index)) };
    });
  }

  /** Sends the settings. Resolves with the threads' URLs when all listen. */
  async start(settingsOf: (index: number) => ThreadSettings): Promise<string[]> {
    for (const [index, { worker }] of this.#threads.entries()) {
      const settings = settingsOf(index);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- it is a thread, not a window
      worker.postMessage(settings, settings.ledger ? [settings.ledger.port] : []);
    }
    const listening = Promise.all(this.#listening.map(({ promise }) => promise));
    const urls = await Promise.race([listening, this.#failed.promise]);
    this.#hasStarted = true;
    return urls;
  }

  async useConfig(config: Config, shared: readonly RouteName[]): Promise<void> {
    await Promise.all(this.#threads.map(({ remote }) => remote.call('useConfig', config, shared)));
  }

  async countRunning(): Promise<number> {
    const counts = await Promise.all(
      this.#threads.map(({ remote }) => remote.call('countRunning')),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async flushLogs(): Promise<void> {
    const flushed = Promise.all(this.#threads.map(({ remote }) => remote.call('flushLog')));
    await Promise.race([flushed, timeLimit(this.#options.clock, flushMs)]);
  }

  async stop(): Promise<void> {
    const askedMs = this.#options.clock.elapsedMs() - this.#readinessAskedMs;
    const stopOne = async ({ remote }: HttpThread, index: number) => {
      await remote.call('stop', askedMs);
      this.#stopped.add(index);
    };
    await Promise.all(this.#threads.map(stopOne));
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()));
  }

  #callsOf(index: number): MainCalls {
    return {
      noteListening: (url) => this.#listening[index]!.resolve(url),
      noteUnusable: (message) => this.#failed.reject(new DatabaseUnusable(message)),
      noteLoss: (ledgerId) => {
        for (const { remote } of this.#threads) remote.tell('noteLoss', ledgerId);
      },
      writeLog: (lines) => this.#options.output.write(lines),
      exchangeRates: (requests) => this.#limits.exchangeRates(requests),
      exchangeSlots: (requests) => this.#limits.exchangeSlots(index, requests),
      takeFromAddress: (...asked) => this.#addressRates.take(...asked),
      takeDailyBytes: (...asked) => this.#dailyBytes.take(...asked),
      takeName: (name, ticket) => this.#names.take(index, name, ticket),
      leaveName: (name, ticket) => this.#names.leave(index, name, ticket),
      giveBackName: (name) => this.#names.giveBack(name),
      readMetrics: () => this.#readMetrics(),
      noteReadinessAsked: () => {
        this.#readinessAskedMs = this.#options.clock.elapsedMs();
      },
      resolveSettings: (settings) => this.#live.resolve(settings),
      applySettings: () => this.#live.look(),
      settingsState: () => this.#live.state(),
    };
  }

  async #readMetrics(): Promise<string> {
    return writeMetrics(
      await Promise.all(this.#threads.map(({ remote }) => remote.call('ownMetrics'))),
    );
  }

  #noteEnd(index: number, error: Error): void {
    if (this.#stopped.has(index)) return;
    if (this.#hasStarted) this.#options.onThreadFailure(error);
    else this.#failed.reject(error);
  }
}
