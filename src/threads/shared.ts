// State that all HTTP threads of a process share, so that they act as one gateway. A process with one
// HTTP thread keeps it in that thread.
import type { Worker } from 'node:worker_threads';
import type { Config } from '../config/schema.ts';
import { type Database, openDatabase } from '../db/database.ts';
import type { DatabaseOptions } from '../db/port.ts';
import { registerSecrets } from '../domain/keys/needed-secrets.ts';
import type { Ledger } from '../domain/ledger/commands.ts';
import { type OpenLedger, openLedger } from '../domain/ledger/open-ledger.ts';
import { addressRatesInMemory, type AddressRates } from '../domain/limits/address-rates.ts';
import { type DailyBytes, dailyBytesInMemory } from '../domain/limits/daily-bytes.ts';
import { openLimits, type Limits } from '../domain/limits/open-limits.ts';
import { type SharedHealth, shareHealth } from '../gateway/calling/shared-health.ts';
import type { Clock, SharedTime } from '../lib/clock.ts';
import { newIdWithPrefix } from '../lib/ids.ts';
import type { Logger } from '../lib/log.ts';
import { readMetrics, writeMetrics } from '../lib/metrics/prometheus.ts';
import { type NameLocks, noOtherThreads } from '../lib/name-locks.ts';
import type { Secrets } from '../lib/secrets.ts';
import type { LiveSettings } from '../config/live-settings.ts';
import type { ThreadsView } from '../server/context.ts';
import { type LiveConfig, settingsOf } from './live-config.ts';

export type Shared = {
  /** The owner of this thread's holds in the ledger's leases. */
  readonly owner: string;
  readonly ledger: Ledger;
  readonly limits: Limits;
  readonly addressRates: AddressRates;
  readonly dailyBytes: DailyBytes;
  /**
   * Keep other threads from running a request that is cached when it ends, and from booking a loss of
   * the same account meanwhile.
   */
  readonly nameLocks: NameLocks;
  /** The circuit breakers. */
  readonly health: SharedHealth;
  readonly settings: LiveSettings;
  readonly threads: ThreadsView;
  /** Closes what this thread opened. */
  readonly close: () => Promise<void>;
};

export type SharedOptions = {
  readonly config: Config;
  readonly database: Database;
  readonly live: LiveConfig;
  readonly log: Logger;
  /** Called when nothing can be charged any more: the process must end and be restarted. */
  readonly onLedgerFailure: (error: Error) => void;
  /** The ledger's thread, if it was started early. */
  readonly ledgerWorker?: Worker | undefined;
  /** True while requests are aborted because the process stops. */
  readonly isStopping: () => boolean;
  readonly clock: Clock;
  /** For tests: the time of rate-limit windows and leases. Default: the database's time. */
  readonly databaseTime?: SharedTime | undefined;
};

type Installation = {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly clock: Clock;
};

/** Opens the database of the process and brings it up to date. */
export async function prepareDatabase(
  { config, secrets, clock }: Installation,
  options: DatabaseOptions = {},
): Promise<Database> {
  const database = openDatabase(config.database.url, options);
  await database.migrate();
  await registerSecrets(database, secrets, clock.nowMs());
  return database;
}

/** For a process with one HTTP thread. */
export async function openShared(options: SharedOptions): Promise<Shared> {
  const { config, database, live, log, clock, databaseTime } = options;
  const owner = newIdWithPrefix('run');
  const ledger = await openOwnLedger(owner, options);
  const limits = openLimits({
    database,
    owner,
    clock,
    databaseTime,
    onError: (err) => log.error({ err }, 'rate limits cannot be shared'),
  });
  return {
    owner,
    ledger,
    limits,
    addressRates: addressRatesInMemory(clock.nowMs),
    dailyBytes: dailyBytesInMemory(config, clock),
    nameLocks: noOtherThreads,
    health: shareHealth([]),
    settings: settingsOf(live),
    threads: {
      count: 1,
      isFirst: true,
      sumMemory: (ownBytes) => ownBytes,
      readMetrics: async (own) => writeMetrics([await readMetrics(own)]),
      noteReadinessAsked: () => {},
      noteLoss: () => {},
    },
    close: async () => {
      await limits.close();
      await ledger.close();
    },
  };
}

/** Opens the ledger, not through another thread. */
export function openOwnLedger(
  owner: string,
  options: Omit<SharedOptions, 'config' | 'live' | 'onLedgerFailure'> & Partial<SharedOptions>,
): Promise<OpenLedger> {
  const { database, log, clock, databaseTime, onLedgerFailure, isStopping, ledgerWorker } = options;
  return openLedger({
    databaseUrl: database.url,
    owner,
    onFailure: onLedgerFailure,
    onTrouble: (err) => log.error({ err }, 'the ledger cannot be written; retrying'),
    isStopping,
    worker: ledgerWorker,
    clock,
    databaseTime,
  });
}
