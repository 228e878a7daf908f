// Batches at providers' own batch APIs. A process that sends one, or reads its results, writes its name
// into it; when that process has ended, another goes on.
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';
import { batchOwner } from '../../terms/batch.ts';
import type { LineRow } from './batch-store.ts';
import { linePages } from './page.ts';

type Row = Tables['sent_batches'];
export type SentBatch = Selectable<Row>;
export type NewSentBatch = Insertable<Row>;
export type SentChanges = Updateable<Row>;

const isFree = sql<boolean>`(sent_batches.owner is null or not exists
  (select 1 from hold_owners where hold_owners.owner = sent_batches.owner))`;
const pageLines = 16;

export class SentBatches {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async add(rows: readonly NewSentBatch[]): Promise<void> {
    if (rows.length > 0)
      await this.#database.write.insertInto('sent_batches').values(rows).execute();
  }

  /** Returns those whose time has come, which no living process has, and which are at no busy provider. */
  async due(
    nowMs: number,
    max: number,
    busy: readonly string[] = [],
  ): Promise<readonly SentBatch[]> {
    const due = this.#database.read
      .selectFrom('sent_batches')
      .innerJoin('batches', 'batches.id', 'sent_batches.batch_id')
      .selectAll('sent_batches')
      .where('batches.state', '<>', sql<'creating'>`'creating'`)
      .where('sent_batches.due_at_ms', '<=', nowMs)
      .where(isFree)
      .orderBy('sent_batches.due_at_ms')
      .limit(max);
    const free = busy.length === 0 ? due : due.where('sent_batches.provider', 'not in', busy);
    return free.execute();
  }

  /** Returns null when another process was faster. */
  async claim({ id }: SentBatch, owner: string, nowMs: number): Promise<SentBatch | null> {
    const claimed = this.#database.write
      .updateTable('sent_batches')
      .set({ owner })
      .where('id', '=', id)
      .where('due_at_ms', '<=', nowMs)
      .where(isFree)
      .returningAll();
    return (await claimed.executeTakeFirst()) ?? null;
  }

  /** Returns false when another process has it, after this one was paused. */
  async change({ id, owner }: SentBatch, changes: SentChanges): Promise<boolean> {
    const { numUpdatedRows } = await this.#database.write
      .updateTable('sent_batches')
      .set(changes)
      .where('id', '=', id)
      .where('owner', '=', owner)
      .executeTakeFirstOrThrow();
    return numUpdatedRows > 0n;
  }

  /** Gives it back after a failure of our own. It is not looked at earlier than it was to be. */
  async giveUp({ id, owner }: SentBatch, dueMs: number): Promise<void> {
    const later = sql<number>`case when due_at_ms < ${dueMs} then ${dueMs} else due_at_ms end`;
    await this.#database.write
      .updateTable('sent_batches')
      .set({ owner: null, due_at_ms: later })
      .where('id', '=', id)
      .where('owner', '=', owner)
      .execute();
  }

  async remove({ id }: Pick<SentBatch, 'id'>): Promise<void> {
    await this.#database.write.deleteFrom('sent_batches').where('id', '=', id).execute();
  }

  /** The batch was cancelled. */
  async hurry(batchId: string, nowMs: number): Promise<void> {
    await this.#database.write
      .updateTable('sent_batches')
      .set({ due_at_ms: nowMs })
      .where('batch_id', '=', batchId)
      .where('state', 'in', ['waiting', 'sent'])
      .execute();
  }

  /** Returns a line that has no result yet. */
  async line({ id, batch_id: batchId }: SentBatch, line: number): Promise<LineRow | null> {
    const found = this.#unended(id, batchId).where('line', '=', line);
    return (await found.executeTakeFirst()) ?? null;
  }

  /** Yields the lines without a result. */
  async *lines({ id, batch_id: batchId }: SentBatch): AsyncGenerator<LineRow> {
    for await (const rows of linePages(this.#unended(id, batchId), pageLines)) yield* rows;
  }

  /** Gives a line, whose hold has ended, to our own queue, which holds for it again. */
  async giveBack({ batch_id: batchId, line }: LineRow, requestId: string): Promise<void> {
    await this.#database.write
      .updateTable('batch_lines')
      .set({
        sent_id: null,
        owner: null,
        held_micros: 0 as LineRow['held_micros'],
        request_id: requestId,
      })
      .where('batch_id', '=', batchId)
      .where('line', '=', line)
      .where('outcome', 'is', null)
      .execute();
  }

  #unended(id: string, batchId: string) {
    return this.#database.read
      .selectFrom('batch_lines')
      .selectAll()
      .where('batch_id', '=', batchId)
      .where('sent_id', '=', id)
      .where('owner', '=', batchOwner)
      .where('outcome', 'is', null);
  }
}
