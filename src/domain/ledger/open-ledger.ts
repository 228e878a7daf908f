// Opens a database's ledger for the gateway, which charges requests, or for the command line, which
// credits and debits accounts beside it. The database URL selects the store.
import { hostname } from 'node:os';
import type { MessagePort, Worker } from 'node:worker_threads';
import { isPostgresUrl, sqlitePathOf } from '../../db/database.ts';
import { type Clock, type SharedTime, systemClock } from '../../lib/clock.ts';
import type { Credit, Debit, Ledger, Outcome } from './commands.ts';
import { openSqliteAdminLedger, openSqliteLedger } from './sqlite/ledger.ts';

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
export async function openLedger({
  databaseUrl,
  owner,
  onFailure = () => {},
  onTrouble = () => {},
  isStopping,
  worker,
  clock,
  databaseTime,
}: LedgerOptions): Promise<OpenLedger> {
  const self = {
    owner,
    host: hostname(),
    pid: process.pid,
    processStartedAtMs: Math.round(performance.timeOrigin),
  };
  const options = { self, onTrouble, clock, databaseTime };
  if (!isPostgresUrl(databaseUrl)) {
    const path = sqlitePathOf(databaseUrl);
    return openSqliteLedger({ ...options, path, onFailure, isStopping, worker });
  }
  await worker?.terminate();
  const { openPostgresLedger } = await import('./postgres/ledger.ts');
  return { ...(await openPostgresLedger({ ...options, url: databaseUrl })), openPort: null };
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
  if (!isPostgresUrl(databaseUrl)) return openSqliteAdminLedger(sqlitePathOf(databaseUrl));
  const { openPostgresAdminLedger } = await import('./postgres/ledger.ts');
  return openPostgresAdminLedger({ url: databaseUrl, onTrouble: () => {}, clock: systemClock });
}
