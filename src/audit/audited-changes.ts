// Changes of one actor, each made in one transaction with its row in the audit log: without the row there is no change.
import type { Insertable } from 'kysely';
import type { Database } from '../db/database.ts';
import type { AuditLogTable } from '../db/schema.ts';
import { transact } from '../db/transact.ts';
import type { Clock } from '../lib/clock.ts';
import { auditRowOf, recordChange, type Actor, type Change } from './audit-log.ts';

/** The result of a change, and its row for the audit log; `change` null: nothing was changed. */
export type Audited<Result> = {
  readonly result: Result;
  readonly change: Change | null;
  /** Who made it, where nobody was signed in before. */
  readonly by?: User;
};

type User = { readonly userId: string; readonly email: string };

type AuditedChangesInput = {
  readonly database: Database;
  readonly actorOf: (by: User | null) => Actor;
  /** The account that a change is filed under when it names none itself. */
  readonly accountId: string | null;
  readonly clock: Clock;
};

export class AuditedChanges {
  readonly #input: AuditedChangesInput;

  constructor(input: AuditedChangesInput) {
    this.#input = input;
  }

  /**
   * Runs a change and writes its audit row, both or neither. `work` writes through the database that it is given, and through no other: on
   * SQLite that would wait for this very transaction. It must not wait for anything else either. What it throws undoes the change.
   */
  commit<Result>(work: (database: Database) => Promise<Audited<Result>>): Promise<Result> {
    return transact(this.#input.database, async (transaction) => {
      const { result, change, by } = await work({ ...this.#input.database, write: transaction });
      if (change) await this.note({ write: transaction }, change, by);
      return result;
    });
  }

  /** For whoever has a transaction of his own. */
  async note(database: Pick<Database, 'write'>, change: Change, by: User | null = null): Promise<void> {
    const { accountId, actorOf, clock } = this.#input;
    await recordChange(database, { actor: actorOf(by), change, accountId }, clock.nowMs());
  }

  /** For the ledger, which writes the row in the transaction of its entry. */
  rowOf(change: Change): Insertable<AuditLogTable> {
    const { accountId, actorOf, clock } = this.#input;
    return auditRowOf({ actor: actorOf(null), change, accountId }, clock.nowMs());
  }
}
