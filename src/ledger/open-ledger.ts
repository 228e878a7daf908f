// Opens the ledger of a database for one of its two users: the gateway, which charges requests, and the command line, which
// credits and debits accounts beside it. The database's URL decides which store it is.
import { hostname } from 'node:os';
import type { Worker } from 'node:worker_threads';
import { isPostgresUrl, sqlitePathOf } from '../db/database.ts';
import { connectSqlite } from '../db/sqlite-connection.ts';
import { type Clock, type SharedTime, systemClock } from '../lib/clock.ts';
import { createBatcher } from './batcher.ts';
import type { Credit, Debit, Ledger, Outcome } from './commands.ts';
import { createRetryingRunner, type RetryingRunner } from './retrying-runner.ts';
import type { Owner } from './sqlite-lease.ts';
import { SqliteStore } from './sqlite-store.ts';
import { startWorker } from './worker-runner.ts';

export type LedgerOptions = {
  readonly databaseUrl: string;
  /** A new id for each start of the process: the `owner` of every `reserve` it submits. The ledger keeps its lease alive. */
  readonly owner: string;
  /** Called once if the ledger can no longer be written; every command is rejected from then on, and the process should end. */
  readonly onFailure?: (error: Error) => void;
  /** Called at each failure of the database, which is asked again until it answers. */
  readonly onTrouble?: (error: unknown) => void;
  /** Prepared already, for SQLite; else one is started now. */
  readonly worker?: Worker;
  readonly clock: Clock;
  /** For tests; else the database's own clock is used. */
  readonly databaseTime?: SharedTime;
};

/**
 * For the gateway. The tables must be there (`Database.migrate`). On SQLite it resolves once holds of dead processes have been given back;
 * on PostgreSQL that follows within a minute, when their leases have ended.
 */
export async function openLedger(options: LedgerOptions): Promise<Ledger> {
  const { databaseUrl, owner, onTrouble = () => {}, worker, clock, databaseTime } = options;
  const self = { owner, host: hostname(), pid: process.pid, processStartedAtMs: Math.round(performance.timeOrigin) };
  if (!isPostgresUrl(databaseUrl)) return openSqliteLedger(self, options);
  await worker?.terminate();
  const { openPostgresLedger } = await import('./postgres-ledger.ts');
  return openPostgresLedger({ url: databaseUrl, onTrouble, self, clock, databaseTime });
}

async function openSqliteLedger(self: Owner, options: LedgerOptions): Promise<Ledger> {
  const { databaseUrl, onFailure = () => {}, onTrouble = () => {}, worker, clock, databaseTime } = options;
  const settings = { path: sqlitePathOf(databaseUrl), self, time: databaseTime };
  let runner: RetryingRunner | null = null;
  const noteFailure = (error: Error) => (runner ? runner.noteFailure(error) : onTrouble(error));
  const store = await startWorker(settings, { onFailure, onTrouble: noteFailure, worker });
  runner = createRetryingRunner(store, { onTrouble, clock });
  return createBatcher(runner);
}

/** A ledger without holds: nothing here would keep their lease. */
export type AdminLedger = {
  /** Durable when it resolves. Throws when the command cannot be run. */
  readonly submit: (command: Credit | Debit) => Promise<Outcome>;
  readonly close: () => Promise<void>;
};

/**
 * For a command-line process, also beside a running gateway: each command is a short transaction that waits for its turn. Not
 * inside a transaction of `Database.write`, which it would wait for in vain.
 */
export async function openLedgerInProcess(databaseUrl: string): Promise<AdminLedger> {
  if (!isPostgresUrl(databaseUrl)) return openSqliteInProcess(sqlitePathOf(databaseUrl));
  const { openPostgresAdminLedger } = await import('./postgres-ledger.ts');
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
