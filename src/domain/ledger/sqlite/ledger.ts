// Opens the ledger on SQLite: for the gateway its worker thread, which other threads reach through
// ports; for the command line a connection of its own.
import type { MessagePort, Worker } from 'node:worker_threads';
import { connectSqlite } from '../../../db/sqlite/connection.ts';
import type { Clock, SharedTime } from '../../../lib/clock.ts';
import { createBatcher } from '../batcher.ts';
import type { Credit, Debit, Ledger, Outcome } from '../commands.ts';
import type { Owner } from '../lease.ts';
import { createRetryingRunner, type RetryingRunner } from '../retrying-runner.ts';
import { SqliteStore } from './store.ts';
import { connectStore, startWorker } from './worker-runner.ts';

type ConnectedOptions = {
  readonly onTrouble: (error: unknown) => void;
  readonly isStopping?: () => boolean;
  readonly clock: Clock;
};

type GatewayLedgerOptions = ConnectedOptions & {
  readonly path: string;
  readonly self: Owner;
  readonly onFailure: (error: Error) => void;
  readonly worker?: Worker;
  readonly databaseTime?: SharedTime;
};

/** Opens the ledger for the gateway. Resolves after holds of dead processes have been released. */
export async function openSqliteLedger(
  options: GatewayLedgerOptions,
): Promise<Ledger & { readonly openPort: () => MessagePort }> {
  const { path, self, databaseTime: time, onFailure, onTrouble, worker, ...rest } = options;
  let runner: RetryingRunner | null = null;
  const noteFailure = (error: Error) => (runner ? runner.noteFailure(error) : onTrouble(error));
  const workerOptions = { onFailure, onTrouble: noteFailure, worker };
  const store = await startWorker({ path, self, time }, workerOptions);
  runner = createRetryingRunner(store, { onTrouble, ...rest });
  return { ...createBatcher(runner), openPort: store.openPort };
}

/** Opens the ledger in another thread of the process that opened it, through a port from there. */
export function connectSqliteLedger(port: MessagePort, options: ConnectedOptions): Ledger {
  const store = connectStore(port, { onTrouble: (error) => runner.noteFailure(error) });
  const runner = createRetryingRunner(store, options);
  return createBatcher(runner);
}

/** Opens the ledger for a command-line process: no holds, no lease. */
export function openSqliteAdminLedger(path: string) {
  const connection = connectSqlite(path, { readOnly: false });
  const store = new SqliteStore(connection);
  return {
    submit: async (command: Credit | Debit): Promise<Outcome> => {
      const reply = store.run([command])[0]!;
      if (reply.type === 'rejected') throw new Error(reply.message);
      return reply;
    },
    close: async () => connection.close(),
  };
}
