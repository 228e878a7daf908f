// The ledger on SQLite: load, decide, save, in one transaction for a whole batch of commands. Synchronous: it runs in a worker
// thread beside the gateway, and in the thread of a command-line process. Answers are given only after the commit.
import type { DatabaseSync } from 'node:sqlite';
import { sqliteCodeOf } from '../db/sqlite-error.ts';
import type { Command, Outcome } from './commands.ts';
import { type Expire, runCommands } from './core.ts';
import { loadBook, saveDecision } from './sqlite-book.ts';
import type { SqliteLease } from './sqlite-lease.ts';
import { type LedgerStatements, prepareStatements } from './sqlite-statements.ts';
import { systemClock } from '../lib/clock.ts';

/** The answer to one command of a batch: its outcome, or why it could not be run. One that was rejected has changed nothing. */
export type Reply = Outcome | { readonly type: 'rejected'; readonly message: string };

/** Holds that one sweep gives back at most, so that commands never wait long behind it. */
export const sweepMax = 1_000;

type StoreOptions = {
  readonly clock?: () => number;
  /** Of the process that places holds through this store. Without one it must place none: nobody would keep them. */
  readonly lease?: SqliteLease;
};

export class SqliteStore {
  readonly #connection: DatabaseSync;
  readonly #statements: LedgerStatements;
  readonly #clock: () => number;
  readonly #lease: SqliteLease | undefined;
  #waitsForDisk = true;

  constructor(connection: DatabaseSync, { clock = systemClock.nowMs, lease }: StoreOptions = {}) {
    this.#connection = connection;
    this.#statements = prepareStatements(connection);
    this.#clock = clock;
    this.#lease = lease;
  }

  /**
   * Runs a batch: durable when this returns, whatever becomes of the process, and what moves money also whatever becomes of the machine.
   * One reply for each command, in order. A command that cannot be run does not take the
   * others with it: the batch is undone, and they are run again one at a time. Throws when the database cannot be written: then nothing of
   * the batch is booked, unless it was run in parts; it is to be sent again.
   */
  run(commands: readonly (Command | Expire)[]): readonly Reply[] {
    try {
      return this.#transact((nowMs) => this.#apply(commands, nowMs), commands.some(mustOutlivePowerCut));
    } catch (error) {
      if (!isFaultOfCommand(error)) throw error;
      if (commands.length > 1) return commands.flatMap((command) => this.run([command]));
      return commands.map(() => ({ type: 'rejected', message: error instanceof Error ? error.message : String(error) }));
    }
  }

  /** Gives back holds whose owner is gone, and keeps this process's own lease. Returns how many; `sweepMax`: there may be more. */
  sweep(): number {
    return this.#transact((nowMs) => {
      const abandoned = this.#lease?.findAbandoned(nowMs, sweepMax) ?? [];
      this.#apply(abandoned, nowMs);
      return abandoned.length;
    });
  }

  /** Ends this process's lease. Holds that it still has are given back by the next sweep of any process. */
  close(): void {
    this.#transact(() => this.#lease?.end());
  }

  #transact<Result>(action: (nowMs: number) => Result, waitsForDisk = true): Result {
    if (waitsForDisk !== this.#waitsForDisk) this.#setWaiting(waitsForDisk);
    this.#statements.begin();
    try {
      const nowMs = this.#clock();
      this.#lease?.renewWhenDue(nowMs);
      const result = action(nowMs);
      this.#statements.commit();
      return result;
    } catch (error) {
      // A full disk makes SQLite roll back by itself.
      if (this.#connection.isTransaction) this.#statements.rollback();
      this.#lease?.forgetRenewal();
      throw error;
    }
  }

  #setWaiting(waitsForDisk: boolean): void {
    if (waitsForDisk) this.#statements.waitForDisk();
    else this.#statements.skipDisk();
    this.#waitsForDisk = waitsForDisk;
  }

  #apply(commands: readonly (Command | Expire)[], nowMs: number): readonly Outcome[] {
    const decision = runCommands(loadBook(this.#statements, commands, nowMs), commands, nowMs);
    saveDecision(this.#statements, decision);
    return decision.outcomes;
  }
}

/**
 * A power cut takes the requests that run with it. What was held for them, and given back, may go too: nothing was charged for them, and
 * nobody was told that it was. A charge is written after its hold in the same log, so that the flush of one keeps the other.
 */
function mustOutlivePowerCut({ type }: Command | Expire): boolean {
  return type === 'settle' || type === 'credit' || type === 'debit';
}

/** A broken rule is the fault of one command of the batch; a database that is locked, full or broken fails them all. */
function isFaultOfCommand(error: unknown): boolean {
  const code = sqliteCodeOf(error);
  const constraint = 19;
  return code === null || code === constraint;
}
