// The ledger's one writer on SQLite, in a thread of its own, so that waiting for the disk never stops the event loop.
// Messages are JSON text: for objects like these it costs the gateway's thread less than a structured clone.
import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';
import { connectSqlite } from '../db/sqlite-connection.ts';
import { readSharedTime, type SharedTime, systemClock } from '../lib/clock.ts';
import type { Command } from './commands.ts';
import { leaseRenewalMs, type Owner, SqliteLease } from './sqlite-lease.ts';
import { SqliteStore, sweepMax } from './sqlite-store.ts';

/** The first message. */
export type WorkerSettings = {
  readonly path: string;
  readonly self: Owner;
  /** For tests; else the machine's clock is used. */
  readonly time?: SharedTime | undefined;
};
/** Every later one: a batch as JSON text; null asks the worker to end. */
export type WorkerRequest = string | null;

const port = parentPort!;
const [{ path, self, time }] = (await once(port, 'message')) as [WorkerSettings];
const connection = connectSqlite(path, { readOnly: false });
const store = new SqliteStore(connection, {
  lease: new SqliteLease(connection, self),
  clock: time ? () => readSharedTime(time) : systemClock.nowMs,
});

sweepAll();
const stopSweeping = systemClock.every(leaseRenewalMs, () => tolerate(sweepAll));
port.on('message', (request: WorkerRequest) => {
  if (request === null) end();
  else port.postMessage(JSON.stringify(store.run(JSON.parse(request) as Command[])));
});
port.postMessage('ready');

/** A part at a time, with the commands that wait served in between. */
function sweepAll(): void {
  if (store.sweep() === sweepMax) setImmediate(tolerate, sweepAll);
}

function end(): void {
  stopSweeping();
  tolerate(() => store.close());
  connection.close();
  port.close();
}

/** Another process may hold the write lock for too long. The next sweep makes up for one that failed; commands report it themselves. */
function tolerate(action: () => void): void {
  try {
    action();
  } catch (error) {
    console.error(`Tollgate: the ledger's leases could not be kept: ${(error as Error).message}`);
  }
}
