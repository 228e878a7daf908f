// Opens a database's ledger for the gateway, which charges requests, or for the command line, which
// credits and debits accounts beside it. The database URL selects the store.
import { hostname } from 'node:os';
import type { MessagePort, Worker } from 'node:worker_threads';
import { isPostgresUrl, sqlitePathOf } from '../../db/database.ts';
import { connectSqlite } from '../../db/sqlite/connection.ts';
import { type Clock, type SharedTime, systemClock } from '../../lib/clock.ts';
import { createBatcher } from './batcher.ts';
import type { Credit, Debit, Ledger, Outcome } from './commands.ts';
import { createRetryingRunner, type RetryingRunner } from './retrying-runner.ts';
import type { Owner } from './sqlite/lease.ts';
import { SqliteStore } from './sqlite/store.ts';
import { connectStore, startWorker } from './sqlite/worker-runner.ts';

type LedgerOptions = {
  readonly databaseUrl: string;
  /**
   * A new id for each start of the process: the `owner` of every `reserve` that it submits. The
   * ledger renews its lease.
   */
  readonly owner: string;
  /**
   * Called once when the ledger is permanently lost. Every command is rejected from then on, and
   * the process should end.
   */
  readonly onFailure?: (error: Error) => void;
  /** Called at each failure of the database; the ledger retries until the database answers. */
  readonly onTrouble?: (error: unknown) => void;
  /** True while requests are being ended; see `RunnerOptions`. */
  readonly isStopping?: () => boolean;
  /** A prepared worker thread, for SQLite; otherwise one is started now. */
  readonly worker?: Worker;
  readonly clock: Clock;
  /** For tests; otherwise the database's clock is used. */
  readonly databaseTime?: SharedTime;
};

export type OpenLedger = Ledger & {
  /** Returns a port for another thread; null on PostgreSQL, where each thread opens its own ledger. */
  readonly openPort: (() => MessagePort) | null;
};

/**
 * Opens the ledger for the gateway. The tables must exist (`Database.migrate`). On SQLite this
 * resolves after holds of dead processes have been released; on PostgreSQL they are released within
 * a minute, when their leases have expired.
 */
export async function openLedger(options: LedgerOptions): Promise<OpenLedger> {
  const { databaseUrl, owner, onTrouble = () => {}, worker, clock, databaseTime } = options;
  const self = {
    owner,
    host: hostname(),
    pid: process.pid,
    processStartedAtMs: Math.round(performance.timeOrigin),
  };
  if (!isPostgresUrl(databaseUrl)) return openSqliteLedger(self, options);
  await worker?.terminate();
  const { openPostgresLedger } = await import('./postgres/ledger.ts');
  const ledger = await openPostgresLedger({
    url: databaseUrl,
    onTrouble,
    self,
    clock,
    databaseTime,
  });
  return { ...ledger, openPort: null };
}

async function openSqliteLedger(self: Owner, options: LedgerOptions): Promise<OpenLedger> {
  const {
    databaseUrl,
    onFailure = () => {},
    onTrouble = () => {},
    isStopping,
    worker,
    clock,
    databaseTime,
  } = options;
  const settings = { path: sqlitePathOf(databaseUrl), self, time: databaseTime };
  let runner: RetryingRunner | null = null;
  const noteFailure = (error: Error) => (runner ? runner.noteFailure(error) : onTrouble(error));
  const store = await startWorker(settings, { onFailure, onTrouble: noteFailure, worker });
  runner = createRetryingRunner(store, { onTrouble, isStopping, clock });
  return { ...createBatcher(runner), openPort: store.openPort };
}

type ConnectedOptions = Pick<LedgerOptions, 'onTrouble' | 'isStopping' | 'clock'>;

/** Opens the ledger in another thread of the process that opened it, through a port from there. */
export function connectLedger(
  port: MessagePort,
  { onTrouble = () => {}, ...options }: ConnectedOptions,
): Ledger {
  const store = connectStore(port, { onTrouble: (error) => runner.noteFailure(error) });
  const runner = createRetryingRunner(store, { onTrouble, ...options });
  return createBatcher(runner);
}

/** A ledger for commands without holds, so it needs no lease. */
export type AdminLedger = {
  /** Durable when it resolves. Throws when the command cannot be run. */
  readonly submit: (command: Credit | Debit) => Promise<Outcome>;
  readonly close: () => Promise<void>;
};

/**
 * Opens the ledger for a command-line process, also beside a running gateway: each command is a
 * short transaction that waits for its turn. Must not be used inside a transaction of
 * `Database.write`, because the two would deadlock.
 */
export async function openLedgerInProcess(databaseUrl: string): Promise<AdminLedger> {
  if (!isPostgresUrl(databaseUrl)) return openSqliteInProcess(sqlitePathOf(databaseUrl));
  const { openPostgresAdminLedger } = await import('./postgres/ledger.ts');
  return openPostgresAdminLedger({ url: databaseUrl, onTrouble: () => {}, clock: systemClock });
}

function openSqliteInProcess(path: string): AdminLedger {
  const connection = connectSqlite(path, { readOnly: false });
  const store = new SqliteStore(connection);
  return {
    submit: async (command) => {
      const reply = store.run([command])[0]!;
      if (reply.type === 'rejected') throw new Error(reply.message);
      return reply;
    },
    close: async () => connection.close(),
  };
}
