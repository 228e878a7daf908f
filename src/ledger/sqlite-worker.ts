// The ledger's one writer on SQLite, in a thread of its own, so that waiting for the disk never stops the event loop.
// Messages are JSON text: for objects like these it costs the gateway's thread less than a structured clone.
import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';
import { connectSqlite } from '../db/sqlite-connection.ts';
import { readSharedTime, type SharedTime, systemClock } from '../lib/clock.ts';
import type { Command } from './commands.ts';
import { leaseRenewalMs, type Owner, SqliteLease } from './sqlite-lease.ts';
import { type Reply, SqliteStore, sweepMax } from './sqlite-store.ts';

/** The first message. */
export type WorkerSettings = {
  readonly path: string;
  readonly self: Owner;
  /** For tests; else the machine's clock is used. */
  readonly time?: SharedTime | undefined;
};
/** Every later one: a batch as JSON text; null asks the worker to end. */
export type WorkerRequest = string | null;

/** As JSON text. `replies` or `failed` for each batch, in order. `not-swept`: leases and holds could not be kept. */
export type WorkerMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'replies'; readonly replies: readonly Reply[] }
  | { readonly type: 'failed' | 'not-swept'; readonly message: string; readonly errcode: number | undefined };

/** Shorter than for others: who waits for this thread is told that it cannot write, and it tries again. */
const busyTimeoutMs = 1_000;

const port = parentPort!;
const [{ path, self, time }] = (await once(port, 'message')) as [WorkerSettings];
const connection = connectSqlite(path, { readOnly: false, busyTimeoutMs });
const store = new SqliteStore(connection, {
  lease: new SqliteLease(connection, self),
  clock: time ? () => readSharedTime(time) : systemClock.nowMs,
});

sweepAll();
const stopSweeping = systemClock.every(leaseRenewalMs, sweepAll);
port.on('message', (request: WorkerRequest) => {
  if (request === null) end();
  else tell(answer(JSON.parse(request) as Command[]));
});
tell({ type: 'ready' });

function answer(commands: readonly Command[]): WorkerMessage {
  try {
    return { type: 'replies', replies: store.run(commands) };
  } catch (error) {
    return failure('failed', error);
  }
}

/** A part at a time, with the commands that wait served in between. The next sweep makes up for one that failed. */
function sweepAll(): void {
  try {
    if (store.sweep() === sweepMax) setImmediate(sweepAll);
  } catch (error) {
    tell(failure('not-swept', error));
  }
}

function end(): void {
  stopSweeping();
  try {
    store.close();
  } catch (error) {
    tell(failure('not-swept', error));
  }
  connection.close();
  port.close();
}

function tell(message: WorkerMessage): void {
  port.postMessage(JSON.stringify(message));
}

function failure(type: 'failed' | 'not-swept', error: unknown): WorkerMessage {
  const { message, errcode } = error as Error & { errcode?: number };
  return { type, message, errcode };
}
