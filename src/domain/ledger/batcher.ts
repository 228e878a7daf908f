// Natural batching: commands that arrive while a batch is written form the next batch. A single
// caller does not wait; many callers share one commit.
import { isServerUnavailable } from '../../db/postgres/error.ts';
import { isFileUnavailable } from '../../db/sqlite/error.ts';
import type { Command, Ledger, Outcome, Reply } from './commands.ts';

/**
 * Bounds how long a batch holds the database's write lock, and so how long the next batch waits.
 */
const batchMax = 512;

type Waiting = {
  readonly command: Command;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: Error) => void;
};

/**
 * The ledger cannot be written, temporarily or permanently. Whether commands in flight were run is
 * unknown until they are sent again.
 */
export class LedgerUnavailable extends Error {
  override readonly name: string = 'LedgerUnavailable';
}

/** The ledger is permanently lost: this process has nothing left that could write it. */
export class LedgerLost extends LedgerUnavailable {
  override readonly name = 'LedgerLost';
}

/** Returns true for a temporary failure of either store: the caller can retry later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return (
    error instanceof LedgerUnavailable || isServerUnavailable(error) || isFileUnavailable(error)
  );
}

/**
 * Runs batches, in a worker thread or a database server. Replies are in the order of the commands.
 * Rejects when it is permanently lost. A reply may be a promise that resolves after its batch; the
 * next batches do not wait for it.
 */
export type BatchRunner = {
  readonly run: (commands: readonly Command[]) => Promise<readonly (Reply | Promise<Reply>)[]>;
  /** True when the last write failed. */
  readonly isFailing: () => boolean;
  readonly close: () => Promise<void>;
};

/**
 * Creates a ledger over a batch runner. `submit` rejects with the reason when its command could not
 * be run. Once the runner has failed, it rejects with `LedgerUnavailable` for all commands in
 * flight, waiting and to come. `close` waits for the commands that were submitted before it.
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
    while (waiting.length > 0) {
      // Commands of the same event-loop turn, of all its sockets, share a batch: a commit costs as
      // much as many commands.
      await new Promise((resolve) => setImmediate(resolve));
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
  if (reply.type === 'rejected')
    reject(new Error(`the ledger could not run a ${command.type}: ${reply.message}`));
  else resolve(reply);
}
