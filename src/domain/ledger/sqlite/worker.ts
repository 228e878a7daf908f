// The single writer of a SQLite ledger, in its own thread so that disk waits never block the event
// loop. It serves every thread of the process that charges requests, each through a port of its
// own. Messages are JSON text, which costs the sender less than a structured clone for such objects.
import { once } from 'node:events';
import { type MessagePort, parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { connectSqlite } from '../../../db/sqlite/connection.ts';
import { explainWriteFailure } from '../../../db/sqlite/error.ts';
import { readSharedTime, type SharedTime, systemClock } from '../../../lib/clock.ts';
import { collectAfterStart } from '../../../lib/collect-garbage.ts';
import type { Command, Reply } from '../commands.ts';
import { type Owner, renewalMs } from '../lease.ts';
import { SqliteLease } from './lease.ts';
import { SqliteStore, sweepMax } from './store.ts';

/** The first message. */
export type WorkerSettings = {
  readonly path: string;
  readonly self: Owner;
  /** For tests; otherwise the system clock is used. */
  readonly time?: SharedTime | undefined;
};
/**
 * Every later message: a batch as JSON text; a port of another thread, which sends batches too; or
 * null. From the thread that started the worker, null ends the worker; from another, its port.
 */
export type WorkerRequest = string | { readonly connect: MessagePort } | null;

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

const owner = parentPort!;
const ports = new Set<MessagePort>([owner]);
const [{ path, self, time }] = (await once(owner, 'message')) as [WorkerSettings];
const connection = connectSqlite(path, { readOnly: false, busyTimeoutMs });
const store = new SqliteStore(connection, {
  lease: new SqliteLease(connection, self),
  clock: time ? () => readSharedTime(time) : systemClock.nowMs,
});

sweepAll();
const stopSweeping = systemClock.every(renewalMs, sweepAll);
owner.on('message', (request: WorkerRequest) => receive(owner, request));
tell(owner, { type: 'ready' });
collectAfterStart();

type Batch = { readonly port: MessagePort; readonly commands: readonly Command[] };

/** Runs a batch together with those that wait at other ports: they share one commit. */
function receive(from: MessagePort, first: WorkerRequest): void {
  const batches: Batch[] = [];
  const ended: MessagePort[] = [];
  const take = (port: MessagePort, request: WorkerRequest) => {
    if (typeof request === 'string')
      batches.push({ port, commands: JSON.parse(request) as Command[] });
    else if (request) connect(request.connect);
    else ended.push(port);
  };
  take(from, first);
  for (const port of ports) {
    let next = receiveMessageOnPort(port);
    for (; next; next = receiveMessageOnPort(port)) take(port, next.message);
  }
  if (batches.length > 0) answer(batches);
  for (const port of ended) {
    if (port === owner) end();
    else disconnect(port);
  }
}

function connect(port: MessagePort): void {
  ports.add(port);
  port.on('message', (request: WorkerRequest) => receive(port, request));
}

function disconnect(port: MessagePort): void {
  ports.delete(port);
  port.close();
}

function answer(batches: readonly Batch[]): void {
  try {
    const replies = store.run(batches.flatMap(({ commands }) => commands));
    let start = 0;
    for (const { port, commands } of batches) {
      tell(port, { type: 'replies', replies: replies.slice(start, start + commands.length) });
      start += commands.length;
    }
  } catch (error) {
    for (const { port } of batches) tell(port, failure('failed', error));
  }
}

/**
 * Sweeps in parts and serves waiting commands in between. A failed sweep is made up by the next.
 */
function sweepAll(): void {
  try {
    if (store.sweep() === sweepMax) setImmediate(sweepAll);
  } catch (error) {
    tellAll(failure('not-swept', error));
  }
}

function end(): void {
  stopSweeping();
  try {
    store.close();
  } catch (error) {
    tellAll(failure('not-swept', error));
  }
  connection.close();
  for (const port of ports) port.close();
}

function tellAll(message: WorkerMessage): void {
  for (const port of ports) tell(port, message);
}

function tell(port: MessagePort, message: WorkerMessage): void {
  port.postMessage(JSON.stringify(message));
}

function failure(type: 'failed' | 'not-swept', error: unknown): WorkerMessage {
  const { errcode } = error as { errcode?: number };
  return { type, message: explainWriteFailure(error as Error, path), errcode };
}
