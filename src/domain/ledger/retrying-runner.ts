// Retries batches while the database is unavailable: a server restarts, fails over or is
// unreachable, or a file is locked or its disk is full. Every command is sent again with the same
// id, so that a command with a lost response does not run twice. New work is refused after some
// seconds, and so is a complete answer if its charge was certainly not made. Other settlements and
// releases are retried for as long as the process lives, because giving up would lose a charge or
// leave a hold open.
import { zeroMicros } from '../../lib/money.ts';
import { type BatchRunner, LedgerLost, LedgerUnavailable } from './batcher.ts';
import type { Command, LedgerId, Release, Reply, Settle } from './commands.ts';
import { type Clock, timeLimit } from '../../lib/clock.ts';

/**
 * The store that a runner needs. `run` throws `LedgerLost` when it is permanently lost, and any
 * other error when the same commands are to be retried. `hasRolledBack`: the batch that failed with
 * this error has changed nothing; otherwise its effect is unknown.
 */
export type RetriedStore = {
  readonly run: (commands: readonly Command[]) => Promise<readonly Reply[]>;
  readonly close: () => Promise<void>;
  readonly hasRolledBack: (error: unknown) => boolean;
};

export type RetryingRunner = BatchRunner & {
  /** Reports a failed write outside of batches: the store is retried until it can be written. */
  readonly noteFailure: (error: unknown) => void;
};

type RunnerOptions = {
  /** Called at each failure of the database. */
  readonly onTrouble: (error: unknown) => void;
  /** How long new work waits for an unavailable database. */
  readonly newWorkTimeoutMs?: number;
  /**
   * True while requests are being ended. A charge that was certainly not booked is then given up,
   * and its client gets an error.
   */
  readonly isStopping?: () => boolean;
  /** How long `close` waits for settlements and releases. */
  readonly closeMs?: number;
  readonly clock: Clock;
};

/**
 * A release that also locks its ledger, so that it waits for the reservation if that is still
 * running unseen.
 */
type LockingRelease = Release & { readonly ledgerId: LedgerId };
type FinalCommand = Settle | Release | LockingRelease;
type Queued = {
  readonly command: FinalCommand;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
};

const retryMsMin = 20;
const retryMsMax = 1_000;
const batchMax = 512;

export function createRetryingRunner(
  store: RetriedStore,
  {
    onTrouble,
    newWorkTimeoutMs = 10_000,
    isStopping = () => false,
    closeMs = 10_000,
    clock,
  }: RunnerOptions,
): RetryingRunner {
  /** Commands that may have been booked although their batch failed. */
  const maybeMade = new WeakSet<Command>();
  let queued: Queued[] = [];
  let retrying: Promise<void> | null = null;
  let failingSinceMs: number | null = null;
  let hasGivenUp = false;

  return {
    run: async (commands) => {
      // Successful batches, which may change nothing, do not extend the deadline of failing ones.
      const beganMs = clock.elapsedMs();
      const replies = await tryUntil(
        commands,
        () => (failingSinceMs ?? beganMs) + newWorkTimeoutMs,
      );
      if (replies) return replies;
      const later = commands.map(finishLater);
      // Without new work, nothing else would show that the database can be written again.
      if (!hasGivenUp) retrying ??= retryQueued();
      return later;
    },
    isFailing: () => failingSinceMs !== null || queued.length > 0,
    noteFailure: (error) => {
      noteTrouble(error);
      retrying ??= retryQueued();
    },
    close: async () => {
      await Promise.race([retrying, timeLimit(clock, closeMs)]);
      hasGivenUp = true;
      for (const { command, reject } of queued) reject(unavailable(command));
      queued = [];
      await store.close().catch(onTrouble);
    },
  };

  /** Returns null when the time is up. Tries at least once. */
  async function tryUntil(
    commands: readonly Command[],
    deadlineMs: () => number,
  ): Promise<readonly Reply[] | null> {
    for (let retryMs = retryMsMin; ; retryMs = Math.min(2 * retryMs, retryMsMax)) {
      try {
        const replies = await store.run(commands);
        failingSinceMs = null;
        return replies;
      } catch (error) {
        if (error instanceof LedgerLost) throw error;
        if (!store.hasRolledBack(error)) for (const command of commands) maybeMade.add(command);
        noteTrouble(error);
      }
      if (hasGivenUp || clock.elapsedMs() + retryMs > deadlineMs()) return null;
      // Random, so that gateways that failed together do not retry together.
      await clock.sleep(retryMs * (0.5 + Math.random()));
    }
  }

  function noteTrouble(error: unknown): void {
    failingSinceMs ??= clock.elapsedMs();
    onTrouble(error);
  }

  async function finishLater(command: Command): Promise<Reply> {
    if (command.type === 'settle' && !canGiveUp(command)) return retryUntilDone(command);
    const release = compensationFor(command);
    if (release && (command.type !== 'reserve' || maybeMade.has(command)))
      retryUntilDone(release).catch(onTrouble);
    // The client's error response need not wait for the release.
    if (command.type === 'release') return { type: 'released' };
    throw unavailable(command);
  }

  /**
   * Returns true when a charge may be given up and its client gets an error: a client that got an
   * error must never be charged. That is the charge of a complete answer, which nobody should wait
   * for without end, and of every answer while the program stops.
   */
  function canGiveUp(command: FinalCommand): command is Settle {
    return (
      command.type === 'settle' &&
      !maybeMade.has(command) &&
      (isStopping() || command.record.ending === 'complete')
    );
  }

  function retryUntilDone(command: FinalCommand): Promise<Reply> {
    return new Promise((resolve, reject) => {
      queued.push({ command, resolve, reject });
      retrying ??= retryQueued();
    });
  }

  function giveUp({ command, reject }: Queued): Queued {
    reject(unavailable(command));
    return { command: compensationFor(command), resolve: () => {}, reject: onTrouble };
  }

  async function retryQueued(): Promise<void> {
    try {
      do {
        queued = queued.map((item) => (canGiveUp(item.command) ? giveUp(item) : item));
        const batch = queued.slice(0, batchMax);
        const replies = await tryUntil(
          batch.map(({ command }) => command),
          () => (queued.some(({ command }) => canGiveUp(command)) ? 0 : Infinity),
        );
        if (hasGivenUp) break;
        if (replies === null) continue;
        queued = queued.slice(batch.length);
        batch.forEach(({ resolve }, index) => resolve(replies[index]!));
      } while (queued.length > 0);
    } catch (error) {
      for (const { reject } of queued) reject(error as Error);
      queued = [];
    } finally {
      retrying = null;
    }
  }
}

function unavailable({ type }: Command): LedgerUnavailable {
  return new LedgerUnavailable(
    `the database does not answer; whether the ${type} was booked is unknown`,
  );
}

/**
 * Returns a release that undoes a command which is not retried; null when there is nothing to undo.
 */
function compensationFor(command: FinalCommand): LockingRelease | Release;
function compensationFor(command: Command): LockingRelease | Release | null;
function compensationFor(command: Command): LockingRelease | Release | null {
  switch (command.type) {
    case 'release':
      return command;
    case 'reserve':
      return {
        type: 'release',
        holdId: command.holdId,
        ledgerId: command.ledgerId,
        lossMicros: zeroMicros,
      };
    case 'settle':
      return {
        type: 'release',
        holdId: command.holdId,
        lossMicros: command.record.upstreamCostMicros,
      };
    case 'extend':
    case 'credit':
    case 'debit':
      return null;
  }
}
