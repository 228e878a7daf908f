// The gateway's side of the ledger's worker thread: batches out, replies in, in the same order.
import { Worker } from 'node:worker_threads';
import { mayBeCommitted } from '../../../db/sqlite-error.ts';
import { LedgerLost } from '../batcher.ts';
import type { RetriedStore } from '../retrying-runner.ts';
import type { Reply } from './store.ts';
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

/**
 * Sends the settings to the worker. Resolves when the database is open and holds of killed
 * processes have been released.
 */
export async function startWorker(
  settings: WorkerSettings,
  { onFailure, onTrouble, worker = prepareWorker() }: WorkerOptions,
): Promise<RetriedStore> {
  // Not `once(worker, 'exit')`, because that rejects when the worker fails.
  const exited = new Promise((resolve) => worker.once('exit', resolve));
  const ready = Promise.withResolvers<void>();
  const pending: Pending[] = [];
  let lost: LedgerLost | null = null;
  let isReady = false;
  let isClosing = false;

  worker.on('message', (text: string) => receive(JSON.parse(text) as WorkerMessage));
  worker.on('error', fail);
  worker.on('exit', (code) => {
    if (!isClosing)
      fail(
        new Error(
          `the ledger's thread ended with code ${code}${isReady ? '' : ' before it was ready'}`,
        ),
      );
  });
  post(settings);
  await ready.promise;

  return {
    hasRolledBack: (error) => !mayBeCommitted(error),
    run: (commands) =>
      new Promise((resolve, reject) => {
        if (lost) return reject(lost);
        pending.push({ resolve, reject });
        post(JSON.stringify(commands));
      }),
    close: async () => {
      isClosing = true;
      if (!lost) post(null);
      await exited;
    },
  };

  function post(request: WorkerSettings | WorkerRequest): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- it is a thread, not a window
    worker.postMessage(request);
  }

  function receive(message: WorkerMessage): void {
    switch (message.type) {
      case 'ready':
        isReady = true;
        return ready.resolve();
      case 'replies':
        return pending.shift()!.resolve(message.replies);
      case 'failed':
        return pending.shift()!.reject(errorOf(message));
      case 'not-swept':
        return onTrouble(errorOf(message));
    }
  }

  function fail(error: Error): void {
    if (lost) return;
    const unknown = isReady
      ? '; whether commands in flight were run is unknown: send them again with the same ids'
      : '';
    lost = new LedgerLost(`${error.message}${unknown}`, { cause: error });
    for (const { reject } of pending) reject(lost);
    if (!isReady) return ready.reject(lost);
    onFailure(lost);
  }
}

function errorOf({ message, errcode }: Extract<WorkerMessage, { message: string }>): Error {
  return Object.assign(new Error(message), { errcode });
}
