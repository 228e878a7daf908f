// Opens the ledger of a database for one of its two users: the gateway, which charges requests, and the command line, which
// credits and debits accounts beside it.
import { hostname } from 'node:os';
import type { Worker } from 'node:worker_threads';
import { sqlitePathOf } from '../db/database.ts';
import { connectSqlite } from '../db/sqlite-connection.ts';
import { createBatcher } from './batcher.ts';
import type { Credit, Debit, Ledger, Outcome } from './commands.ts';
import { SqliteStore } from './sqlite-store.ts';
import { startWorker } from './worker-runner.ts';

export type LedgerOptions = {
  readonly databaseUrl: string;
  /** A new id for each start of the process: the `owner` of every `reserve` it submits. The ledger keeps its lease alive. */
  readonly owner: string;
  /** Called once if the ledger can no longer be written; every command is rejected from then on, and the process should end. */
  readonly onFailure?: (error: Error) => void;
  /** Prepared already; else one is started now. */
  readonly worker?: Worker;
};

/** For the gateway. The tables must be there (`Database.migrate`). Resolves once holds of dead processes have been given back. */
export async function openLedger({ databaseUrl, owner, onFailure = () => {}, worker }: LedgerOptions): Promise<Ledger> {
  const self = { owner, host: hostname(), pid: process.pid, processStartedAtMs: Math.round(performance.timeOrigin) };
  return createBatcher(await startWorker({ path: sqlitePathOf(databaseUrl), self }, { onFailure, worker }));
}

/** A ledger in this thread, without holds: nothing here would keep their lease. */
export type AdminLedger = {
  /** Durable when it returns. Throws when the command cannot be run. */
  readonly submit: (command: Credit | Debit) => Outcome;
  readonly close: () => void;
};

/**
 * For a command-line process, also beside a running gateway: each command is a short transaction that waits for its turn. Not
 * inside a transaction of `Database.write`, which it would wait for in vain.
 */
export function openLedgerInProcess(databaseUrl: string): AdminLedger {
  const connection = connectSqlite(sqlitePathOf(databaseUrl), { readOnly: false });
  const store = new SqliteStore(connection);
  return {
    submit: (command) => {
      const reply = store.run([command])[0]!;
      if (reply.type === 'rejected') throw new Error(reply.message);
      return reply;
    },
    close: () => connection.close(),
  };
}
