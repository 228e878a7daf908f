// Batches for a database that may be away for a while: a server that is restarted, failed over or cut off, a file whose disk is full or that
// another process has locked. Every command is sent again with the same id, so that one whose answer was lost is not run twice. New work is
// refused after some seconds; the end of a request is not given up while the process lives, since a charge would be lost or a hold be stuck.
import { zeroMicros } from '../lib/money.ts';
import { type BatchRunner, LedgerLost, LedgerUnavailable } from './batcher.ts';
import type { Command, LedgerId, Release, Settle } from './commands.ts';
import type { Reply } from './sqlite-store.ts';
import { type Clock, timeLimit } from '../lib/clock.ts';

/**
 * What a runner needs of a store. `run` throws `LedgerLost` when it is broken for good, and anything else when the same commands are to be
 * sent again. `undoesFailed`: a batch that failed has changed nothing; else what became of it is unknown.
 */
export type RetriedStore = {
  readonly run: (commands: readonly Command[]) => Promise<readonly Reply[]>;
  readonly close: () => Promise<void>;
  readonly undoesFailed: boolean;
};

export type RetryingRunner = BatchRunner & {
  /** Something else than a batch could not be written: the store is asked until it can be. */
  readonly noteFailure: (error: unknown) => void;
};

export type RunnerOptions = {
  /** Called at each failure of the database. */
  readonly onTrouble: (error: unknown) => void;
  /** How long new work waits for a database that is away. */
  readonly patienceMs?: number;
  /** How long `close` waits for what must not be given up. */
  readonly closeMs?: number;
  readonly clock: Clock;
};

/** A release that also locks its ledger: should the reservation still be under way, unseen, this one waits for its end. */
type Undo = Release & { readonly ledgerId: LedgerId };
type Ending = Settle | Release | Undo;
type Waiting = { readonly command: Ending; readonly resolve: (reply: Reply) => void; readonly reject: (error: Error) => void };

const retryMsMin = 20;
const retryMsMax = 1_000;
const batchMax = 512;

export function createRetryingRunner(
  store: RetriedStore,
  { onTrouble, patienceMs = 10_000, closeMs = 10_000, clock }: RunnerOptions,
): RetryingRunner {
  let waiting: Waiting[] = [];
  let ending: Promise<void> | null = null;
  let failingSinceMs: number | null = null;
  let isGivenUp = false;

  return {
    run: async (commands) => {
      const replies = await tryUntil(commands, () => (failingSinceMs ?? clock.elapsedMs()) + patienceMs);
      return replies ?? commands.map(postpone);
    },
    isFailing: () => failingSinceMs !== null,
    noteFailure: (error) => {
      noteTrouble(error);
      ending ??= finishAll();
    },
    close: async () => {
      await Promise.race([ending, timeLimit(clock, closeMs)]);
      isGivenUp = true;
      for (const { command, reject } of waiting) reject(unavailable(command));
      waiting = [];
      await store.close().catch(onTrouble);
    },
  };

  /** null when the time is up. There is one try in any case. */
  async function tryUntil(commands: readonly Command[], deadlineMs: () => number): Promise<readonly Reply[] | null> {
    for (let retryMs = retryMsMin; ; retryMs = Math.min(2 * retryMs, retryMsMax)) {
      try {
        const replies = await store.run(commands);
        failingSinceMs = null;
        return replies;
      } catch (error) {
        if (error instanceof LedgerLost) throw error;
        noteTrouble(error);
      }
      if (isGivenUp || clock.elapsedMs() + retryMs > deadlineMs()) return null;
      // Several replicas that failed together should not come back together.
      await clock.sleep(retryMs * (0.5 + Math.random()));
    }
  }

  function noteTrouble(error: unknown): void {
    failingSinceMs ??= clock.elapsedMs();
    onTrouble(error);
  }

  async function postpone(command: Command): Promise<Reply> {
    if (command.type === 'settle' && !(store.undoesFailed && isCompleteStream(command))) return finish(command);
    const undo = undoOf(command);
    if (undo) finish(undo).catch(onTrouble);
    // The error that its client waits for does not depend on it.
    if (command.type === 'release') return { type: 'released' };
    throw unavailable(command);
  }

  function finish(command: Ending): Promise<Reply> {
    return new Promise((resolve, reject) => {
      waiting.push({ command, resolve, reject });
      ending ??= finishAll();
    });
  }

  async function finishAll(): Promise<void> {
    try {
      do {
        const batch = waiting.slice(0, batchMax);
        const replies = await tryUntil(
          batch.map(({ command }) => command),
          () => Infinity,
        );
        if (replies === null) break;
        waiting = waiting.slice(batch.length);
        batch.forEach(({ resolve }, index) => resolve(replies[index]!));
      } while (waiting.length > 0);
    } catch (error) {
      for (const { reject } of waiting) reject(error as Error);
      waiting = [];
    } finally {
      ending = null;
    }
  }
}

/** Its client has most of the answer and waits for the last event: an error in its place makes it free. */
function isCompleteStream({ record }: Settle): boolean {
  return record.streamed && record.ending === 'complete';
}

function unavailable({ type }: Command): LedgerUnavailable {
  return new LedgerUnavailable(`the database does not answer; whether the ${type} was booked is unknown`);
}

/** What leaves nothing held of a command that is not sent again; null: there is nothing to undo. */
function undoOf(command: Command): Undo | Release | null {
  switch (command.type) {
    case 'release':
      return command;
    case 'reserve':
      return { type: 'release', holdId: command.holdId, ledgerId: command.ledgerId, lossMicros: zeroMicros };
    case 'settle':
      return { type: 'release', holdId: command.holdId, lossMicros: command.record.upstreamCostMicros };
    case 'extend':
    case 'credit':
    case 'debit':
      return null;
  }
}
