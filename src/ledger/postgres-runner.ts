// Batches for a database server, which may be away for a while: restarted, failed over, cut off. Every command is sent again with the same
// id, so that one whose answer was lost is not run twice. New work is refused after some seconds; the end of a request is not given up
// while the process lives, since a charge would be lost or a hold be stuck.
import { zeroMicros } from '../lib/money.ts';
import { type BatchRunner, LedgerUnavailable } from './batcher.ts';
import type { Command, LedgerId, Release, Reserve, Settle } from './commands.ts';
import type { Reply } from './sqlite-store.ts';
import { type Clock, timeLimit } from '../lib/clock.ts';

/** What a runner needs of a store. `run` throws when it is unknown what became of the commands. */
export type RetriedStore = {
  readonly run: (commands: readonly Command[]) => Promise<readonly Reply[]>;
  readonly close: () => Promise<void>;
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
): BatchRunner {
  let waiting: Waiting[] = [];
  let ending: Promise<void> | null = null;
  let failingSinceMs: number | null = null;
  let isGivenUp = false;

  return {
    run: async (commands) => {
      const replies = await tryUntil(commands, () => (failingSinceMs ?? clock.elapsedMs()) + patienceMs);
      return replies ?? commands.map(postpone);
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
        failingSinceMs ??= clock.elapsedMs();
        onTrouble(error);
      }
      if (isGivenUp || clock.elapsedMs() + retryMs > deadlineMs()) return null;
      // Several replicas that failed together should not come back together.
      await clock.sleep(retryMs * (0.5 + Math.random()));
    }
  }

  async function postpone(command: Command): Promise<Reply> {
    if (command.type === 'settle' || command.type === 'release') return finish(command);
    if (command.type === 'reserve') finish(undoOf(command)).catch(onTrouble);
    throw unavailable(command);
  }

  function finish(command: Ending): Promise<Reply> {
    return new Promise((resolve, reject) => {
      waiting.push({ command, resolve, reject });
      ending ??= finishAll();
    });
  }

  async function finishAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchMax);
      const replies = await tryUntil(
        batch.map(({ command }) => command),
        () => Infinity,
      );
      if (replies === null) break;
      waiting = waiting.slice(batch.length);
      batch.forEach(({ resolve }, index) => resolve(replies[index]!));
    }
    ending = null;
  }
}

function unavailable({ type }: Command): LedgerUnavailable {
  return new LedgerUnavailable(`the database does not answer; whether the ${type} was booked is unknown`);
}

function undoOf({ holdId, ledgerId }: Reserve): Undo {
  return { type: 'release', holdId, ledgerId, lossMicros: zeroMicros };
}
