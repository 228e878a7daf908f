// The gateway's side of the ledger's worker thread: batches out, replies in, in the same order.
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { mayBeCommitted } from '../../../db/sqlite/error.ts';
import { LedgerLost } from '../batcher.ts';
import type { Reply } from '../commands.ts';
import type { RetriedStore } from '../retrying-runner.ts';
import type { WorkerMessage, WorkerRequest, WorkerSettings } from './worker.ts';

type Pending = {
  readonly resolve: (replies: readonly Reply[]) => void;
  readonly reject: (error: Error) => void;
};

type WorkerOptions = {
  /**
   * Called once when the worker ends by itself: the process should end too, because it cannot
   * charge any more.
   */
  readonly onFailure: (error: Error) => void;
  /** Called when leases and holds could not be updated because the database cannot be written. */
  readonly onTrouble: (error: Error) => void;
  readonly worker?: Worker;
};

/**
 * Starts the thread, which loads its code and waits for its settings. A program that calls this
 * before loading the rest of its code has the ledger ready sooner.
 */
export function prepareWorker(): Worker {
  // The worker file is beside this one, in source and in the build.
  const file = import.meta.url.endsWith('.ts') ? './worker.ts' : './ledger-worker.js';
  return new Worker(new URL(file, import.meta.url));
}

/** The started worker, for the thread that started it. */
export type LedgerWorker = RetriedStore & {
  /** Returns a port for another thread, to be passed to `connectStore` there. */
  readonly openPort: () => MessagePort;
};

/**
 * Sends the settings to the worker. Resolves when the database is open and holds of killed
 * processes have been released.
 */
export async function startWorker(
  settings: WorkerSettings,
  { onFailure, onTrouble, worker = prepareWorker() }: WorkerOptions,
): Promise<LedgerWorker> {
  // Not `once(worker, 'exit')`, because that rejects when the worker fails.
  const exited = new Promise((resolve) => worker.once('exit', resolve));
  const ready = Promise.withResolvers<void>();
  const batches = sendBatches(worker, { onReady: ready.resolve, onTrouble });
  let isReady = false;
  let isClosing = false;
  worker.on('error', fail);
  worker.on('exit', (code) => {
    if (!isClosing)
      fail(
        new Error(
          `the ledger's thread ended with code ${code}${isReady ? '' : ' before it was ready'}`,
        ),
      );
  });
  post(worker, settings);
  await ready.promise;
  isReady = true;

  return {
    ...batches.store,
    openPort: () => {
      const { port1, port2 } = new MessageChannel();
      post(worker, { connect: port1 }, [port1]);
      return port2;
    },
    close: async () => {
      isClosing = true;
      if (!batches.isLost()) post(worker, null);
      await exited;
    },
  };

  function fail(error: Error): void {
    if (batches.isLost()) return;
    const unknown = isReady
      ? '; whether commands in flight were run is unknown: send them again with the same ids'
      : '';
    const lost = new LedgerLost(`${error.message}${unknown}`, { cause: error });
    batches.lose(lost);
    if (!isReady) return ready.reject(lost);
    onFailure(lost);
  }
}

/**
 * Connects another thread of the process to the started worker. If the worker fails, the thread
 * that started it ends the process.
 */
export function connectStore(
  port: MessagePort,
  { onTrouble }: Pick<WorkerOptions, 'onTrouble'>,
): RetriedStore {
  const { store } = sendBatches(port, { onReady: () => {}, onTrouble });
  return {
    ...store,
    close: async () => {
      const closed = new Promise((resolve) => port.once('close', resolve));
      post(port, null);
      await closed;
    },
  };
}

type BatchEvents = { readonly onReady: () => void; readonly onTrouble: (error: Error) => void };

/** Sends batches through a port, and resolves them with its replies in the same order. */
function sendBatches(port: Worker | MessagePort, { onReady, onTrouble }: BatchEvents) {
  const pending: Pending[] = [];
  let lost: LedgerLost | null = null;
  port.on('message', (text: string) => receive(JSON.parse(text) as WorkerMessage));
  const store: Omit<RetriedStore, 'close'> = {
    hasRolledBack: (error) => !mayBeCommitted(error),
    run: (commands) =>
      new Promise((resolve, reject) => {
        if (lost) return reject(lost);
        pending.push({ resolve, reject });
        post(port, JSON.stringify(commands));
      }),
  };
  const lose = (error: LedgerLost) => {
    lost = error;
    for (const { reject } of pending) reject(error);
  };
  return { store, lose, isLost: () => lost !== null };

  function receive(message: WorkerMessage): void {
    switch (message.type) {
      case 'ready':
        return onReady();
      case 'replies':
        return pending.shift()!.resolve(message.replies);
      case 'failed':
        return pending.shift()!.reject(errorOf(message));
      case 'not-swept':
        return onTrouble(errorOf(message));
    }
  }
}

function post(
  port: Worker | MessagePort,
  request: WorkerSettings | WorkerRequest,
  transferred: MessagePort[] = [],
): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- it is a thread, not a window
  port.postMessage(request, transferred);
}

function errorOf({ message, errcode }: Extract<WorkerMessage, { message: string }>): Error {
  return Object.assign(new Error(message), { errcode });
}
