// The ledger on PostgreSQL: lock, load, decide, save, in one transaction and two round trips per
// batch. A ledger's row lock covers its windows, holds and entries too, because a key belongs to
// one ledger. So gateways that charge the same account take turns, and a transaction with an
// unknown outcome has ended before the next one on its ledgers begins.
import assert from 'node:assert/strict';
import type { ClientBase, Pool } from 'pg';
import { codeOf } from '../../../db/postgres/error.ts';
import { changesOf } from '../changes.ts';
import type { LedgerRow } from '../columns.ts';
import type { Command, Outcome, Reply } from '../commands.ts';
import { type Decision, type Expire, runCommands } from '../core.ts';
import { bookOf, type Loaded } from './book.ts';
import type { PostgresLease } from './lease.ts';
import { type BatchIds, batchIdsOf } from './batch-ids.ts';
import { saveChanges } from './save.ts';
import {
  type LoadedRows,
  loadEnded,
  loadMembers,
  loadRows,
  lockClaims,
  lockLedgers,
} from './statements.ts';

/** Holds released by one sweep, so that commands never wait long behind it. */
export const sweepMax = 500;

type StoreOptions = {
  /** For tests; otherwise the database's clock is used. */
  readonly clock?: () => number;
  /**
   * The lease of the process that places holds through this store. Without a lease it must not
   * place any, because they would be orphaned.
   */
  readonly lease?: PostgresLease;
};

export class PostgresStore {
  /** A commit whose response was lost may have happened. */
  readonly hasRolledBack = (): boolean => false;
  readonly #pool: Pool;
  readonly #clock: (() => number) | undefined;
  readonly #lease: PostgresLease | undefined;

  constructor(pool: Pool, { clock, lease }: StoreOptions = {}) {
    this.#pool = pool;
    this.#clock = clock;
    this.#lease = lease;
  }

  /**
   * Runs a batch, durable when this resolves, and returns one reply per command, in order. A
   * command that cannot be run does not affect the others: the batch is rolled back and run again
   * in parts. Throws when the database failed. Any of the commands may have been run then; the
   * caller must send the same batch again.
   */
  async run(commands: readonly (Command | Expire)[]): Promise<readonly Reply[]> {
    try {
      return await this.#transact(commands);
    } catch (error) {
      if (!isFaultOfCommand(error)) throw error;
      if (commands.length === 1) return [{ type: 'rejected', message: (error as Error).message }];
      const middle = Math.ceil(commands.length / 2);
      return [
        ...(await this.run(commands.slice(0, middle))),
        ...(await this.run(commands.slice(middle))),
      ];
    }
  }

  async renewLease(): Promise<void> {
    await this.#lease?.renew(this.#pool);
  }

  /**
   * Renews this process's lease and releases holds of dead owners. Returns how many; `sweepMax`
   * means that there may be more.
   */
  async sweep(): Promise<number> {
    if (!this.#lease) return 0;
    await this.#lease.renew(this.#pool);
    // After a database outage every lease has expired. The next sweep runs after living processes
    // have renewed theirs.
    if (this.#lease.takeEnded()) return 0;
    const abandoned = await this.#lease.findAbandoned(this.#pool, sweepMax);
    if (abandoned.length > 0) await this.run(abandoned);
    await this.#lease.endExpired(this.#pool);
    return abandoned.length;
  }

  /** Ends this process's lease. The next sweep of any process releases its remaining holds. */
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
      // If even a rollback fails, the connection is closed, which rolls back too.
      const isBroken = await client.query('rollback').then(
        () => false,
        () => true,
      );
      client.release(isBroken);
      throw error;
    }
  }

  /**
   * Runs the batch's statements. Statements that do not depend on the previous result are sent
   * together.
   */
  async #runOn(
    client: ClientBase,
    commands: readonly (Command | Expire)[],
  ): Promise<readonly Outcome[]> {
    const ids = batchIdsOf(commands);
    const clockMs = this.#clock?.() ?? null;
    const [, ledgers, claims, open, members] = await Promise.all([
      client.query('begin'),
      lockLedgers(client, ids),
      lockClaims(client, ids),
      loadRows(client, ids, { clockMs, owner: this.#lease?.owner ?? null }),
      loadMembers(client, ids, clockMs),
    ]);
    const loaded = await loadEnded(client, ids, open);
    assertLocked(ledgers, ids, loaded);
    const decision = decide(commands, { ledgers, loaded, claims, members });
    const [end] = (
      await Promise.all([...this.#save(client, loaded, decision), client.query('commit')])
    ).slice(-1);
    // A commit after a failed statement reports ROLLBACK, without an error.
    assert.equal(end?.command, 'COMMIT');
    return decision.outcomes;
  }

  #save(
    client: ClientBase,
    loaded: LoadedRows,
    decision: Decision,
  ): Promise<{ command: string } | undefined>[] {
    const lease = this.#lease?.isDue(loaded.lease_ends_at_ms, loaded.now_ms)
      ? [this.#lease.renew(client).then(() => undefined)]
      : [];
    const hasChanged = decision.entries.length > 0;
    return [
      ...lease,
      ...(hasChanged ? [saveChanges(client, changesOf(decision)).then(() => undefined)] : []),
    ];
  }
}

/** Thrown by the core on input that only a bug can produce. */
class CommandFault extends Error {}

function decide(commands: readonly (Command | Expire)[], rows: Loaded): Decision {
  try {
    // Nothing is dated into a closed day, even if the clock went back.
    const nowMs = Math.max(rows.loaded.now_ms, rows.loaded.closed_until_ms);
    return runCommands(bookOf(rows), commands, nowMs);
  } catch (error) {
    throw new CommandFault((error as Error).message, { cause: error });
  }
}

/**
 * Throws when a loaded hold's ledger is not locked: the hold was created between the two
 * statements. The retry locks its ledger.
 */
function assertLocked(
  ledgers: readonly LedgerRow[],
  ids: BatchIds,
  { holds, entries }: LoadedRows,
): void {
  if (ids.holdIdsWithoutLedger.length === 0) return;
  const [locked, unplaced] = [
    new Set(ledgers.map(({ id }) => id)),
    new Set(ids.holdIdsWithoutLedger),
  ];
  assert.ok(
    [...holds, ...entries].every(
      ({ id, ledger_id: ledgerId }) => !unplaced.has(id) || locked.has(ledgerId),
    ),
    'a hold was loaded whose ledger is not locked',
  );
}

/**
 * Returns true when one command of the batch is at fault: it violates a constraint (class 23) or
 * has an invalid value (22). An id that another transaction has just used is no fault, because the
 * retry finds it. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
function isFaultOfCommand(error: unknown): boolean {
  const code = codeOf(error);
  return error instanceof CommandFault || (/^(22|23)...$/.test(code) && code !== '23505');
}
