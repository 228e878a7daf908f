// Natural batching: while one batch is being written, the commands that come meanwhile wait, and all of them are the next batch.
// One caller alone waits for nothing; many callers share one commit.
import type { Command, Ledger, Outcome } from './commands.ts';
import type { Reply } from './sqlite-store.ts';

/** Bounds the time a batch holds the database's write lock, and with it what a command in the next one waits. */
const batchMax = 512;

type Waiting = {
  readonly command: Command;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: Error) => void;
};

/** The ledger cannot be written, now or any more. What became of the commands in flight is unknown until they are sent again. */
export class LedgerUnavailable extends Error {
  override readonly name: string = 'LedgerUnavailable';
}

/** It never will be: this process has nothing left that could write it. */
export class LedgerLost extends LedgerUnavailable {
  override readonly name = 'LedgerLost';
}

/**
 * Where batches go: a worker thread, or a database server. Answers in the order of the commands; fails when it is broken for good. A reply
 * may come later than its batch: the next ones do not wait for it.
 */
export type BatchRunner = {
  readonly run: (commands: readonly Command[]) => Promise<readonly (Reply | Promise<Reply>)[]>;
  /** Whether the last try to write failed. */
  readonly isFailing: () => boolean;
  readonly close: () => Promise<void>;
};

/**
 * A ledger over a runner of batches. `submit` rejects with the reason when its command could not be run, and with
 * `LedgerUnavailable` once the runner has failed, for all commands in flight, waiting and to come.
 * `close` waits for the commands that were submitted before it.
 */
export function createBatcher(runner: BatchRunner): Ledger {
  let waiting: Waiting[] = [];
  let working: Promise<void> | null = null;
  let ended: LedgerUnavailable | null = null;

  return {
    submit: (command) =>
      new Promise<Outcome>((resolve, reject) => {
        if (ended) return reject(ended);
        waiting.push({ command, resolve, reject });
        working ??= work();
      }),
    isFailing: () => ended !== null || runner.isFailing(),
    close: async () => {
      ended ??= new LedgerUnavailable('the ledger is closed');
      await working;
      await runner.close();
    },
  };

  async function work(): Promise<void> {
    // Commands submitted in the same turn of the event loop go in the same batch.
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batchMax);
      await runBatch(batch);
    }
    working = null;
  }

  async function runBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const replies = await runner.run(batch.map(({ command }) => command));
      batch.forEach((item, index) => answerWith(item, replies[index]!));
    } catch (error) {
      const { message } = error as Error;
      ended = new LedgerUnavailable(`the ledger failed: ${message}`, { cause: error });
      for (const { reject } of [...batch, ...waiting]) reject(ended);
      waiting = [];
    }
  }
}

function answerWith(item: Waiting, reply: Reply | Promise<Reply>): void {
  if (reply instanceof Promise) void reply.then((late) => answer(item, late), item.reject);
  else answer(item, reply);
}

function answer({ resolve, reject, command }: Waiting, reply: Reply): void {
  if (reply.type === 'rejected') reject(new Error(`the ledger could not run a ${command.type}: ${reply.message}`));
  else resolve(reply);
}
