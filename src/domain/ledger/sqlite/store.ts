// The ledger on SQLite: load, decide, save, in one transaction per batch. Synchronous: it runs in a
// worker thread beside the gateway, or in the thread of a command-line process. Replies are sent
// only after the commit.
import type { DatabaseSync } from 'node:sqlite';
import { sqliteCodeOf } from '../../../db/sqlite/error.ts';
import type { Command, Outcome, Reply } from '../commands.ts';
import { type Expire, runCommands } from '../core.ts';
import { loadBook } from './book.ts';
import type { SqliteLease } from './lease.ts';
import { keepRows, type KeptStatements } from './kept-rows.ts';
import { prepareSaves, saveDecision } from './save.ts';
import { prepareStatements } from './statements.ts';
import { systemClock } from '../../../lib/clock.ts';

/** Holds released by one sweep, so that commands never wait long behind it. */
export const sweepMax = 1_000;

type StoreOptions = {
  readonly clock?: () => number;
  /**
   * The lease of the process that places holds through this store. Without a lease it must not
   * place any, because they would be orphaned.
   */
  readonly lease?: SqliteLease;
};

export class SqliteStore {
  readonly #connection: DatabaseSync;
  readonly #statements: KeptStatements;
  readonly #clock: () => number;
  readonly #lease: SqliteLease | undefined;
  #waitsForDisk = true;

  constructor(connection: DatabaseSync, { clock = systemClock.nowMs, lease }: StoreOptions = {}) {
    this.#connection = connection;
    const statements = { ...prepareStatements(connection), ...prepareSaves(connection) };
    this.#statements = keepRows(connection, statements);
    this.#clock = clock;
    this.#lease = lease;
  }

  /**
   * Runs a batch and returns one reply per command, in order. When it returns, the batch survives a
   * crash of the process, and money movements also survive a power cut. A command that cannot be
   * run does not affect the others. Throws when the database cannot be written. Nothing of the
   * batch is booked then, unless `mayBeCommitted` returns true; the caller must send it again.
   */
  run(commands: readonly (Command | Expire)[]): readonly Reply[] {
    const waitsForDisk = commands.some(mustOutlivePowerCut);
    try {
      return this.#transact((nowMs) => this.#apply(commands, nowMs), waitsForDisk);
    } catch (error) {
      if (isFaultOfCommand(error))
        return this.#transact(
          (nowMs) => commands.map((one) => this.#applyAlone(one, nowMs)),
          waitsForDisk,
        );
      throw error;
    }
  }

  /**
   * Renews this process's lease and releases holds of dead owners. Returns how many; `sweepMax`
   * means that there may be more.
   */
  sweep(): number {
    return this.#transact((nowMs) => {
      this.#lease?.renew(nowMs);
      const abandoned = this.#lease?.findAbandoned(nowMs, sweepMax) ?? [];
      this.#apply(abandoned, nowMs);
      return abandoned.length;
    }, false);
  }

  /** Ends this process's lease. The next sweep of any process releases its remaining holds. */
  close(): void {
    this.#transact(() => this.#lease?.end());
  }

  #transact<Result>(action: (nowMs: number) => Result, waitsForDisk = true): Result {
    if (waitsForDisk !== this.#waitsForDisk) this.#setWaiting(waitsForDisk);
    this.#statements.begin();
    try {
      const nowMs = this.#clock();
      this.#lease?.renewWhenOverdue(nowMs);
      const result = action(nowMs);
      this.#statements.commit();
      return result;
    } catch (error) {
      // A full disk makes SQLite roll back by itself.
      if (this.#connection.isTransaction) this.#statements.rollback();
      this.#statements.forget();
      this.#lease?.forgetRenewal();
      throw error;
    }
  }

  #setWaiting(waitsForDisk: boolean): void {
    if (waitsForDisk) this.#statements.waitForDisk();
    else this.#statements.skipDisk();
    this.#waitsForDisk = waitsForDisk;
  }

  #applyAlone(command: Command | Expire, nowMs: number): Reply {
    this.#connection.exec('savepoint one_command');
    try {
      return this.#apply([command], nowMs)[0]!;
    } catch (error) {
      if (!isFaultOfCommand(error)) throw error;
      this.#connection.exec('rollback to one_command');
      this.#statements.forget();
      return { type: 'rejected', message: error instanceof Error ? error.message : String(error) };
    }
  }

  #apply(commands: readonly (Command | Expire)[], clockMs: number): readonly Outcome[] {
    // Nothing is dated into a closed day, even if the clock went back.
    const nowMs = Math.max(clockMs, this.#statements.loadClosedUntil());
    const decision = runCommands(loadBook(this.#statements, commands, nowMs), commands, nowMs);
    saveDecision(this.#statements, decision);
    return decision.outcomes;
  }
}

/**
 * Returns true for money movements. A power cut ends the running requests. Their holds and releases
 * may be lost too, because nothing was charged or confirmed for them. A charge follows its hold in
 * the same log, so flushing the charge also keeps the hold.
 */
function mustOutlivePowerCut({ type }: Command | Expire): boolean {
  return type === 'settle' || type === 'credit' || type === 'debit';
}

/**
 * Returns true when one command of the batch is at fault: it violates a constraint. A locked, full
 * or broken database fails all commands.
 */
function isFaultOfCommand(error: unknown): boolean {
  const code = sqliteCodeOf(error);
  const constraint = 19;
  return code === null || code === constraint;
}
