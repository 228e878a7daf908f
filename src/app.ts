// The process: opens what all its threads share, and serves HTTP in this thread.
// threads/start-threads.ts serves it in several.
import type { Config } from './config/schema.ts';
import type { ConfigReader } from './config/load.ts';
import type { Catalog } from './domain/catalog/catalog.ts';
import { loadCatalog } from './domain/catalog/load-catalog.ts';
import { type FirstStart, prepareFirstStart } from './first-start.ts';
import { ActiveRuns } from './gateway/active-runs.ts';
import { type Serving, type ServingOptions, startServing } from './serving.ts';
import { LiveConfig } from './threads/live-config.ts';
import { openShared, prepareDatabase, type SharedOptions } from './threads/shared.ts';

/** A running process, whatever its number of threads. */
export type App = {
  /** The address as a client on this machine reaches it. */
  readonly url: string;
  /** At the start. */
  readonly config: Config;
  readonly catalog: Catalog;
  readonly firstStart: FirstStart;
  /** Returns how many charged requests run now. */
  readonly countRunning: () => Promise<number>;
  /** Passes the log lines of all threads to the output, as far as they answer at once. */
  readonly flushLogs: () => Promise<void>;
  /** Reads the configuration file again. A bad one is refused and logged. */
  readonly reread: () => Promise<void>;
  /** Refuses new work, drains within the configured time, aborts the rest free of charge. */
  readonly stop: () => Promise<void>;
};

/** `config`: the file and the environment, without the settings saved in the database. */
export type AppOptions = ServingOptions &
  Pick<SharedOptions, 'onLedgerFailure' | 'ledgerWorker' | 'databaseTime'> & {
    readonly reader: ConfigReader;
  };

/**
 * Starts a process with one HTTP thread, this one. Throws when the configuration cannot work: bad
 * catalogue, unusable database, port in use.
 */
export async function startApp(options: AppOptions): Promise<App & Pick<Serving, 'gateway'>> {
  const { secrets, clock } = options;
  // First, because a bad catalogue must not touch the database.
  loadCatalog(options.config);
  const database = await prepareDatabase(options);
  const live = await LiveConfig.open({ ...options, database });
  const { config } = live;
  const runs = new ActiveRuns(clock);
  const isStopping = () => runs.isEnding;
  const shared = await openShared({ ...options, config, database, live, isStopping });
  const serving = await startServing({ ...options, config }, { database, runs, shared });
  live.follow(async (changed) => serving.use(changed, []));
  // Last, because key and link are shown only once: a failed start must not use them up.
  const firstStart = await prepareFirstStart(database, secrets, clock);
  const countRunning = async () => runs.count;
  const flushLogs = async () => {};
  return {
    ...serving,
    config,
    catalog: loadCatalog(config),
    firstStart,
    countRunning,
    flushLogs,
    reread: () => live.reread(),
    stop: () => {
      live.close();
      return serving.stop();
    },
  };
}
