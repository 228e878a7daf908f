// Makes the changes of one actor. Each is one transaction with its row in the audit log: without
// the row there is no change.
import { hash } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';
import { transact } from '../../db/transact.ts';
import type { Clock } from '../../lib/clock.ts';
import { dayOf } from '../../lib/utc-time.ts';
import { auditRowOf, recordChange, type Actor, type Change } from './audit-log.ts';

/** The result of a change, if it has one, and its audit row; `change` is null when nothing changed. */
type Audited<Result> = {
  readonly result?: Result;
  readonly change: Change | null;
  /** The user who made the change, when nobody was signed in before. */
  readonly by?: User;
};

type User = { readonly userId: string; readonly email: string };

type AuditedChangesInput = {
  readonly database: Database;
  readonly actorOf: (by: User | null) => Actor;
  /** The account of changes that name none. */
  readonly accountId?: string | null;
  readonly clock: Clock;
};

export class AuditedChanges {
  /**
   * For rows that the audit log does not record, such as links, challenges and counts of tries, and
   * for what follows a recorded change. `tests/architecture.test.ts` lists who uses it.
   */
  readonly unrecorded: Database;
  readonly clock: Clock;
  readonly #input: AuditedChangesInput;

  constructor(input: AuditedChangesInput) {
    this.unrecorded = input.database;
    this.clock = input.clock;
    this.#input = input;
  }

  /** The actor's name for people. */
  get actorName(): string {
    return this.#input.actorOf(null).name;
  }

  /**
   * Runs a change and writes its audit row, both or neither. `work` must use only the database that
   * it receives: on SQLite, any other would wait for this transaction. It must not wait for
   * anything else either. An exception undoes the change.
   */
  commit<Result = void>(work: (database: Database) => Promise<Audited<Result>>): Promise<Result> {
    return transact(this.unrecorded.write, async (transaction) => {
      const { result, change, by } = await work({
        ...this.unrecorded,
        read: transaction,
        write: transaction,
      });
      if (change) await this.note({ write: transaction }, change, by);
      return result as Result;
    });
  }

  /** Makes several changes in one transaction. */
  together<Result>(work: (changes: AuditedChanges) => Promise<Result>): Promise<Result> {
    return transact(this.unrecorded.write, (transaction) => {
      const database = { ...this.unrecorded, read: transaction, write: transaction };
      return work(new AuditedChanges({ ...this.#input, database }));
    });
  }

  /** Writes an audit row in the caller's transaction. */
  async note(
    database: Pick<Database, 'write'>,
    change: Change,
    by: User | null = null,
  ): Promise<void> {
    const { accountId = null, actorOf, clock } = this.#input;
    await recordChange(database.write, { actor: actorOf(by), change, accountId }, clock.nowMs());
  }

  /**
   * Records that the actor read the bodies of one of the account's requests; `requestId` null: that
   * it read any of its requests, once in a UTC day.
   */
  async noteReading(accountId: string, requestId: string | null): Promise<void> {
    const action = requestId === null ? 'account.read-requests' : 'account.read-bodies';
    const subject = requestId ?? accountId;
    const row = this.rowOf({ action, subject, accountId });
    const today = [row.actor_id, accountId, dayOf(row.created_at_ms)].join(' ');
    const daily = { id: `aud_${hash('sha256', today, 'hex').slice(0, 26)}` };
    await this.unrecorded.write
      .insertInto('audit_log')
      .values({ ...row, ...(requestId === null && daily) })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
  }

  /** Returns the audit row for the ledger, which writes it in the transaction of its entry. */
  rowOf(change: Change): Insertable<Tables['audit_log']> {
    const { accountId = null, actorOf, clock } = this.#input;
    return auditRowOf({ actor: actorOf(null), change, accountId }, clock.nowMs());
  }
}
