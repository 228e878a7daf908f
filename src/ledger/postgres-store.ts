// The ledger on PostgreSQL: lock, load, decide, save, in one transaction and two exchanges with the server for a whole batch of commands.
// The lock on a ledger's row covers its windows, holds and entries as well, since a key belongs to one ledger; so replicas that charge the
// same account take turns, and a transaction whose end nobody saw has ended before the next one on its ledgers begins.
import assert from 'node:assert/strict';
import type { ClientBase, Pool } from 'pg';
import { codeOf } from '../db/postgres-error.ts';
import type { Book } from './book.ts';
import { changesOf } from './changes.ts';
import type { Command, Outcome } from './commands.ts';
import { type Decision, type Expire, runCommands } from './core.ts';
import { bookOf } from './postgres-book.ts';
import type { PostgresLease } from './postgres-lease.ts';
import { type Names, namesOf } from './postgres-names.ts';
import { saveChanges } from './postgres-save.ts';
import { type LedgerRow, type LoadedRows, loadEnded, loadRows, lockClaims, lockLedgers } from './postgres-statements.ts';
import type { Reply } from './sqlite-store.ts';

/** Holds that one sweep gives back at most, so that commands never wait long behind it. */
export const sweepMax = 500;

type StoreOptions = {
  /** For tests; else the database's own clock is used. */
  readonly clock?: () => number;
  /** Of the process that places holds through this store. Without one it must place none: nobody would keep them. */
  readonly lease?: PostgresLease;
};

export class PostgresStore {
  /** A commit whose answer was lost may have happened. */
  readonly undoesFailed = false;
  readonly #pool: Pool;
  readonly #clock: (() => number) | undefined;
  readonly #lease: PostgresLease | undefined;

  constructor(pool: Pool, { clock, lease }: StoreOptions = {}) {
    this.#pool = pool;
    this.#clock = clock;
    this.#lease = lease;
  }

  /**
   * Runs a batch: durable when this resolves. One reply for each command, in order. A command that cannot be run does not take the others
   * with it: the batch is undone and run again in parts. Throws when the database failed: then any of the commands may have been run, and
   * the same batch is to be sent again.
   */
  async run(commands: readonly (Command | Expire)[]): Promise<readonly Reply[]> {
    try {
      return await this.#transact(commands);
    } catch (error) {
      if (!isFaultOfCommand(error)) throw error;
      if (commands.length === 1) return [{ type: 'rejected', message: (error as Error).message }];
      const middle = Math.ceil(commands.length / 2);
      return [...(await this.run(commands.slice(0, middle))), ...(await this.run(commands.slice(middle)))];
    }
  }

  /** Keeps this process's lease, and gives back holds whose owner is gone. Returns how many; `sweepMax`: there may be more. */
  async sweep(): Promise<number> {
    // After a time in which the database could not be reached, everybody's lease has run out: the living renew theirs before the next sweep.
    if (!this.#lease || !(await this.#lease.renew(this.#pool))) return 0;
    const abandoned = await this.#lease.findAbandoned(this.#pool, sweepMax);
    if (abandoned.length > 0) await this.run(abandoned);
    return abandoned.length;
  }

  /** Ends this process's lease. Holds that it still has are given back by the next sweep of any process. */
  async close(): Promise<void> {
    await this.#lease?.end(this.#pool);
  }

  async #transact(commands: readonly (Command | Expire)[]): Promise<readonly Outcome[]> {
    const client = await this.#pool.connect();
    try {
      const outcomes = await this.#runOn(client, commands);
      client.release();
      return outcomes;
    } catch (error) {
      // A connection on which not even this works is closed, which undoes its transaction as well.
      const isBroken = await client.query('rollback').then(
        () => false,
        () => true,
      );
      client.release(isBroken);
      throw error;
    }
  }

  /** Statements are sent together where the next does not need the answer to the one before. */
  async #runOn(client: ClientBase, commands: readonly (Command | Expire)[]): Promise<readonly Outcome[]> {
    const names = namesOf(commands);
    const [, ledgers, claims, open] = await Promise.all([
      client.query('begin'),
      lockLedgers(client, names),
      lockClaims(client, names),
      loadRows(client, names, { clockMs: this.#clock?.() ?? null, owner: this.#lease?.owner ?? null }),
    ]);
    const loaded = await loadEnded(client, names, open);
    assertLocked(ledgers, names, loaded);
    const decision = decide(commands, { ledgers, loaded, claims });
    const [end] = (await Promise.all([...this.#save(client, loaded, decision), client.query('commit')])).slice(-1);
    // A transaction in which a statement failed ends with ROLLBACK, and without an error.
    assert.equal(end?.command, 'COMMIT');
    return decision.outcomes;
  }

  #save(client: ClientBase, loaded: LoadedRows, decision: Decision): Promise<{ command: string } | undefined>[] {
    const lease = this.#lease?.isDue(loaded.lease_ends_at_ms, loaded.now_ms)
      ? [this.#lease.renew(client).then(() => undefined)]
      : [];
    const hasChanged = decision.entries.length > 0;
    return [...lease, ...(hasChanged ? [saveChanges(client, changesOf(decision)).then(() => undefined)] : [])];
  }
}

/** Thrown by the core on what only a bug can send. */
class CommandFault extends Error {}

type Loaded = { readonly ledgers: readonly LedgerRow[]; readonly loaded: LoadedRows; readonly claims: Book['claims'] };

function decide(commands: readonly (Command | Expire)[], { ledgers, loaded, claims }: Loaded): Decision {
  try {
    return runCommands(bookOf(ledgers, loaded, claims), commands, loaded.now_ms);
  } catch (error) {
    throw new CommandFault((error as Error).message, { cause: error });
  }
}

/** The ledger of a hold that was made between the two statements is not ours to change; the next try locks it. */
function assertLocked(ledgers: readonly LedgerRow[], names: Names, { holds, entries }: LoadedRows): void {
  if (names.unplacedHoldIds.length === 0) return;
  const [locked, unplaced] = [new Set(ledgers.map(({ id }) => id)), new Set(names.unplacedHoldIds)];
  assert.ok(
    [...holds, ...entries].every(({ id, ledger_id: ledgerId }) => !unplaced.has(id) || locked.has(ledgerId)),
    'a hold was loaded whose ledger is not locked',
  );
}

/**
 * A broken rule (class 23), or a value that does not fit (22), is the fault of one command of the batch. Except for an id that another
 * transaction has just used: on the next try it is found. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
function isFaultOfCommand(error: unknown): boolean {
  const code = codeOf(error);
  return error instanceof CommandFault || (/^(22|23)...$/.test(code) && code !== '23505');
}
