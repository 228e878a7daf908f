// The gateway's end of the ledger's worker thread: batches out, replies in, in the same order.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { BatchRunner } from './batcher.ts';
import type { Reply } from './sqlite-store.ts';
import type { WorkerRequest, WorkerSettings } from './sqlite-worker.ts';

type Pending = { readonly resolve: (replies: readonly Reply[]) => void; readonly reject: (error: Error) => void };

/**
 * Starts the thread, which loads its code and then waits to be told what to open. A program that calls this before it loads the rest of its own
 * code has the ledger ready sooner.
 */
export function prepareWorker(): Worker {
  // Beside this file, as a source or as built.
  const file = import.meta.url.endsWith('.ts') ? './sqlite-worker.ts' : './sqlite-worker.js';
  return new Worker(new URL(file, import.meta.url));
}

/**
 * Sets the worker to work; resolves when it has the database open and has given back what a killed process left held.
 * `onFailure` is told once if the worker ends by itself: the process should end too, since it can charge nothing any more.
 */
export async function startWorker(
  settings: WorkerSettings,
  { onFailure, worker = prepareWorker() }: { readonly onFailure: (error: Error) => void; readonly worker?: Worker },
): Promise<BatchRunner> {
  // Not `once(worker, 'exit')`, which rejects when the worker fails.
  const exited = new Promise((resolve) => worker.once('exit', resolve));
  post(settings);
  // A thread that ends without a word would otherwise be waited for without end.
  const failedStart = exited.then((code) => {
    throw new Error(`the ledger's thread ended with code ${String(code)} before it was ready`);
  });
  await Promise.race([once(worker, 'message'), failedStart]);
  let pending: Pending | null = null;
  let failure: Error | null = null;
  let isClosing = false;

  worker.on('message', (replies: string) => {
    pending?.resolve(JSON.parse(replies) as Reply[]);
    pending = null;
  });
  worker.on('error', fail);
  worker.on('exit', (code) => {
    if (!isClosing) fail(new Error(`its thread ended with code ${code}`));
  });

  return {
    run: (commands) =>
      new Promise((resolve, reject) => {
        if (failure) return reject(failure);
        pending = { resolve, reject };
        post(JSON.stringify(commands));
      }),
    close: async () => {
      isClosing = true;
      if (!failure) post(null);
      await exited;
    },
  };

  function post(request: WorkerSettings | WorkerRequest): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- it is a thread, not a window
    worker.postMessage(request);
  }

  function fail(error: Error): void {
    if (failure) return;
    failure = new Error(`${error.message}; whether commands in flight were run is unknown: send them again with the same ids`, {
      cause: error,
    });
    pending?.reject(failure);
    onFailure(failure);
  }
}
