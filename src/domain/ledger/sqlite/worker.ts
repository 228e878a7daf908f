// The single writer of a SQLite ledger, in its own thread so that disk waits never block the event
// loop. Messages are JSON text, which costs the gateway's thread less than a structured clone for
// such objects.
import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';
import { connectSqlite } from '../../../db/sqlite-connection.ts';
import { explainWriteFailure } from '../../../db/sqlite-error.ts';
import { readSharedTime, type SharedTime, systemClock } from '../../../lib/clock.ts';
import type { Command } from '../commands.ts';
import { type Owner, renewalMs, SqliteLease } from './lease.ts';
import { type Reply, SqliteStore, sweepMax } from './store.ts';

/** The first message. */
export type WorkerSettings = {
  readonly path: string;
  readonly self: Owner;
  /** For tests; otherwise the system clock is used. */
  readonly time?: SharedTime | undefined;
};
/** Every later message: a batch as JSON text; null ends the worker. */
export type WorkerRequest = string | null;

/**
 * Sent as JSON text. `replies` or `failed` for each batch, in order. `not-swept`: leases and holds
 * could not be updated.
 */
export type WorkerMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'replies'; readonly replies: readonly Reply[] }
  | {
      readonly type: 'failed' | 'not-swept';
      readonly message: string;
      readonly errcode: number | undefined;
    };

/**
 * Shorter than for other connections: a busy database is reported and retried, so it does not block
 * this thread.
 */
const busyTimeoutMs = 1_000;

const port = parentPort!;
const [{ path, self, time }] = (await once(port, 'message')) as [WorkerSettings];
const connection = connectSqlite(path, { readOnly: false, busyTimeoutMs });
const store = new SqliteStore(connection, {
  lease: new SqliteLease(connection, self),
  clock: time ? () => readSharedTime(time) : systemClock.nowMs,
});

sweepAll();
const stopSweeping = systemClock.every(renewalMs, sweepAll);
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

/**
 * Sweeps in parts and serves waiting commands in between. A failed sweep is made up by the next.
 */
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
  const { errcode } = error as { errcode?: number };
  return { type, message: explainWriteFailure(error as Error, path), errcode };
}
