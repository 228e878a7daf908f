// Batches and their lines. A line's request, and later its result, is encrypted in its row. A process
// takes a line by writing its name into it; a line whose process has no lease any more, in the ledger's
// table, can be taken again.
import { type Insertable, type Selectable, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { Db, Tables } from '../../db/schema.ts';
import { createSealer, type Sealer } from '../../lib/sealed-bytes.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { dayMs } from '../../lib/utc-time.ts';
import {
  type BatchForm,
  batchOwner,
  type BatchStatus,
  type LineOutcome,
} from '../../terms/batch.ts';
import type { Mode } from '../../terms/mode.ts';
import type { Owner } from './batch-files.ts';
import { type From, linePages, type Page, pageOf } from './page.ts';
import { snakeCase } from '../../lib/snake-case.ts';

export type Batch = Selectable<Tables['batches']>;
export type LineRow = Selectable<Tables['batch_lines']>;
type HeldLine = Pick<LineRow, 'request_id' | 'held_micros'>;
/** `isTakenOver`: another process has begun it, and ended. */
export type TakenLine = LineRow & { readonly isTakenOver: boolean };

/** Lines and the bytes of their results. */
export type Counts = Readonly<
  Record<LineOutcome | 'waiting', { readonly lines: number; readonly bytes: number }>
>;

export type NewLine = {
  readonly customId: string;
  readonly requestId: string;
  readonly heldMicros: LineRow['held_micros'];
  readonly likelyMicros: LineRow['likely_micros'];
  /** The request, or, with an outcome, the result. */
  readonly text: string;
  readonly outcome: LineOutcome | null;
  /** The batch at a provider that it is for; null: our own queue runs it. */
  readonly sentId: string | null;
};

type Full = readonly string[] | 'all';

const isFree = sql<boolean>`(owner is null or not exists
  (select 1 from hold_owners where hold_owners.owner = batch_lines.owner))`;

const isNotSent = sql<boolean>`(sent_id is null or not exists
  (select 1 from sent_batches where sent_batches.id = batch_lines.sent_id))`;

export class BatchStore {
  readonly #database: Database;
  readonly #sealer: Sealer;

  constructor(database: Database, secrets: Secrets) {
    this.#database = database;
    this.#sealer = createSealer(secrets, 'batch lines');
  }

  /** Returns false when another batch has its name, and so is the one that was asked for. */
  async create(batch: Insertable<Tables['batches']>): Promise<boolean> {
    const { write } = this.#database;
    if (batch.name_digest)
      await write
        .updateTable('batches')
        .set({ name_digest: null })
        .where('key_id', '=', batch.key_id)
        .where('name_digest', '=', batch.name_digest)
        .where('created_at_ms', '<=', batch.created_at_ms - dayMs)
        .execute();
    const { numInsertedOrUpdatedRows } = await write
      .insertInto('batches')
      .values(batch)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows === 1n;
  }

  async findNamed(keyId: string, nameDigest: string): Promise<Batch | null> {
    const named = this.#database.read
      .selectFrom('batches')
      .selectAll()
      .where('key_id', '=', keyId)
      .where('name_digest', '=', nameDigest);
    return (await named.executeTakeFirst()) ?? null;
  }

  async addLines(batchId: string, first: number, lines: readonly NewLine[], nowMs: number) {
    const rows = await Promise.all(
      lines.map(async ({ text, outcome, sentId, ...line }, index) => ({
        batch_id: batchId,
        line: first + index,
        ...snakeCase(line),
        outcome,
        bytes: outcome && bytesOf(text),
        owner: sentId && batchOwner,
        sent_id: sentId,
        due_at_ms: nowMs,
        body: await this.#sealer.seal(
          Buffer.from(text),
          contextOf(batchId, first + index, outcome),
        ),
      })),
    );
    await this.#database.write.insertInto('batch_lines').values(rows).execute();
  }

  async noteTotals(id: string, { lines, bytes }: Pick<Batch, 'lines' | 'bytes'>): Promise<void> {
    await this.#database.write
      .updateTable('batches')
      .set({ lines, bytes })
      .where('id', '=', id)
      .execute();
  }

  /** Shows the batch to its owner, and its lines to the queue. Returns false when it was abandoned. */
  async start(id: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#database.write
      .updateTable('batches')
      .set({ state: 'running' })
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return numUpdatedRows > 0n;
  }

  async findById(id: string): Promise<Batch | null> {
    const found = this.#database.read.selectFrom('batches').selectAll().where('id', '=', id);
    return (await found.executeTakeFirst()) ?? null;
  }

  async find(owner: Owner, form: BatchForm, id: string): Promise<Batch | null> {
    const found = this.#of(owner).where('form', '=', form).where('id', '=', id);
    return (await found.executeTakeFirst()) ?? null;
  }

  /** In either mode and form. */
  async findShown(accountId: string, id: string): Promise<Batch | null> {
    return (await this.#shownOf(accountId).where('id', '=', id).executeTakeFirst()) ?? null;
  }

  /** Returns null when the page begins at a batch that is not there. */
  async list(owner: Owner, form: BatchForm, page: Page): Promise<readonly Batch[] | null> {
    const from = page.after === undefined ? null : await this.find(owner, form, page.after);
    if (page.after !== undefined && !from) return null;
    return pageOf(this.#of(owner).where('form', '=', form), page, from).execute();
  }

  /** Lists batches of both forms, the newest first. Returns one more than `limit` if there are more. */
  newest(owner: Owner, limit: number, after: From): Promise<readonly Batch[]> {
    return pageOf(this.#of(owner), { limit }, after).execute();
  }

  /** Returns false when it does not run. */
  async cancel(id: string, nowMs: number, write: Db = this.#database.write): Promise<boolean> {
    const { numUpdatedRows } = await write
      .updateTable('batches')
      .set({ state: 'cancelling', cancelled_at_ms: nowMs, due_at_ms: nowMs })
      .where('id', '=', id)
      .where('state', '=', 'running')
      .executeTakeFirstOrThrow();
    return numUpdatedRows > 0n;
  }

  async hideResults(id: string, kind: 'output' | 'errors'): Promise<void> {
    await this.#database.write
      .updateTable('batches')
      .set(kind === 'output' ? { output_removed: 1 } : { errors_removed: 1 })
      .where('id', '=', id)
      .execute();
    const outcomes = kind === 'output' ? sql`= 'succeeded'` : sql`<> 'succeeded'`;
    await inSteps(
      this.#database,
      id,
      (lines) => sql`update batch_lines set body = null where batch_id = ${id}
        and outcome ${outcomes} and line in (${sql.join(lines)})`,
    );
  }

  /**
   * Returns those of a mode that have not ended and are due, the one that was served longest ago first.
   * `full`: accounts whose batches are left out while they run.
   */
  async due(mode: Mode, { nowMs, max, full }: { nowMs: number; max: number; full: Full }) {
    const isOver = sql<boolean>`(state <> 'running' or expires_at_ms <= ${nowMs})`;
    return this.#database.read
      .selectFrom('batches')
      .selectAll()
      .where('state', '<>', sql<'ended'>`'ended'`)
      .where('mode', '=', mode)
      .where('due_at_ms', '<=', nowMs)
      .$if(full === 'all', (query) => query.where(isOver))
      .$if(full !== 'all' && full.length > 0, (query) =>
        query.where((eb) => eb.or([isOver, eb('account_id', 'not in', full as string[])])),
      )
      .orderBy('due_at_ms')
      .limit(max)
      .execute();
  }

  /** Returns true when the process that was creating the batch has ended. */
  async isAbandoned({ owner }: Batch): Promise<boolean> {
    const living = this.#database.read
      .selectFrom('hold_owners')
      .select('owner')
      .where('owner', '=', owner);
    return (await living.executeTakeFirst()) === undefined;
  }

  /**
   * Takes lines without an outcome that no living process has. `dueMs`: those due by then. `isForced`:
   * also those of living ones, which have lost them; never those at a provider.
   */
  async take(
    batch: Batch,
    owner: string,
    { max, dueMs, isForced = false }: { max: number; dueMs: number; isForced?: boolean },
  ) {
    const found = await this.#database.read
      .selectFrom('batch_lines')
      .select(['line', 'owner', 'tries'])
      .where('batch_id', '=', batch.id)
      .where('outcome', 'is', null)
      .where('due_at_ms', '<=', dueMs)
      .where(isForced ? isNotSent : isFree)
      .orderBy('line')
      .limit(max)
      .execute();
    if (found.length === 0) return [];
    const seen = found.map((row) => sql`(cast(${row.line} as bigint), ${row.owner ?? ''})`);
    // PostgreSQL looks at this condition again when another process was faster.
    const { rows } = await sql<LineRow>`update batch_lines set owner = ${owner}, tries = tries + 1
      where batch_id = ${batch.id} and outcome is null
        and (line, coalesce(owner, '')) in (values ${sql.join(seen)})
      returning *`.execute(this.#database.transient);
    const before = new Map(found.map((row) => [row.line, row.owner]));
    return rows
      .map((row): TakenLine => ({ ...row, isTakenOver: before.get(row.line) !== null }))
      .toSorted((one, other) => one.line - other.line);
  }

  /** The queue looks at the batch again at that time. */
  async postpone(id: string, dueMs: number): Promise<void> {
    await this.#database.transient
      .updateTable('batches')
      .set({ due_at_ms: dueMs })
      .where('id', '=', id)
      .execute();
  }

  /** Gives a line back to the queue. `gone`: as the line of a process that has ended. */
  async putBack(
    { batch_id: id, line, owner, tries }: TakenLine,
    dueMs: number,
    nextOwner: null | 'gone' = null,
  ): Promise<void> {
    await this.#database.transient
      .updateTable('batch_lines')
      .set({ owner: nextOwner, due_at_ms: dueMs, tries })
      .where('batch_id', '=', id)
      .where('line', '=', line)
      .where('owner', '=', owner)
      .where('outcome', 'is', null)
      .execute();
  }

  /**
   * Gives the line's next try a hold and a charge of its own. Returns false when another process has taken
   * the line over.
   */
  async rename({ batch_id: id, line, owner }: TakenLine, requestId: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#database.write
      .updateTable('batch_lines')
      .set({ request_id: requestId })
      .where('batch_id', '=', id)
      .where('line', '=', line)
      .where('owner', '=', owner)
      .executeTakeFirstOrThrow();
    return numUpdatedRows > 0n;
  }

  /** Does nothing when another process has taken the line over. */
  async finish(line: LineRow, outcome: LineOutcome, text: string): Promise<void> {
    const { batch_id: id } = line;
    const body = await this.#sealer.seal(Buffer.from(text), contextOf(id, line.line, outcome));
    await this.#database.transient
      .updateTable('batch_lines')
      .set({ outcome, body, bytes: bytesOf(text), owner: null })
      .where('batch_id', '=', id)
      .where('line', '=', line.line)
      .where('owner', '=', line.owner)
      .where('outcome', 'is', null)
      .execute();
  }

  /** Returns true when our own queue still has lines of it. */
  async hasOwnLines(id: string): Promise<boolean> {
    const waiting = this.#waitingOf(id).where('sent_id', 'is', null);
    return (await waiting.executeTakeFirst()) !== undefined;
  }

  /** Throws when it was sealed under a secret that has ended. */
  async textOf({ batch_id: id, line, outcome, body }: LineRow): Promise<string> {
    return (await this.#sealer.open(body!, contextOf(id, line, outcome))).toString();
  }

  /** Ends a batch of which every line has an outcome. Returns false when one has none. */
  async endIfDone(id: string, nowMs: number): Promise<boolean> {
    if (await this.#waitingOf(id).executeTakeFirst()) return false;
    const counts = JSON.stringify({ ...(await this.#count(id)), costMicros: await this.#cost(id) });
    await this.#database.write
      .updateTable('batches')
      .set({ state: 'ended', ended_at_ms: nowMs, counts })
      .where('id', '=', id)
      .where('state', 'in', ['running', 'cancelling'])
      .execute();
    return true;
  }

  #waitingOf(id: string) {
    return this.#database.read
      .selectFrom('batch_lines')
      .select('line')
      .where('batch_id', '=', id)
      .where('outcome', 'is', null)
      .limit(1);
  }

  async countsOf({ id, counts }: Batch): Promise<Counts> {
    return counts === null ? this.#count(id) : (JSON.parse(counts) as Counts);
  }

  async #count(id: string): Promise<Counts> {
    const rows = await this.#database.read
      .selectFrom('batch_lines')
      .select(({ fn }) => [
        'outcome',
        fn.countAll<number>().as('lines'),
        fn.sum<number | null>('bytes').as('bytes'),
      ])
      .where('batch_id', '=', id)
      .groupBy('outcome')
      .execute();
    const of = (outcome: LineOutcome | null) => {
      const row = rows.find((one) => one.outcome === outcome);
      return { lines: row?.lines ?? 0, bytes: row?.bytes ?? 0 };
    };
    return {
      waiting: of(null),
      succeeded: of('succeeded'),
      errored: of('errored'),
      canceled: of('canceled'),
      expired: of('expired'),
    };
  }

  /** Returns what its lines have cost so far, and what is held for the others. */
  async moneyOf({ id, counts }: Batch): Promise<{ readonly cost: number; readonly held: number }> {
    const ended = counts === null ? null : (JSON.parse(counts) as { costMicros?: number });
    const cost = ended?.costMicros ?? (await this.#cost(id));
    const { held } = await this.#database.read
      .selectFrom('batch_lines')
      .select(({ fn }) => fn.sum<number | null>('held_micros').as('held'))
      .where('batch_id', '=', id)
      .where('outcome', 'is', null)
      .executeTakeFirstOrThrow();
    return { cost, held: held ?? 0 };
  }

  async #cost(id: string): Promise<number> {
    const { cost } = await this.#database.read
      .selectFrom('batch_lines')
      .innerJoin('charges', 'charges.id', 'request_id')
      .select(({ fn }) => fn.sum<number | null>('cost_micros').as('cost'))
      .where('batch_id', '=', id)
      .where('outcome', 'is not', null)
      .executeTakeFirstOrThrow();
    return cost ?? 0;
  }

  /** Yields the results that still exist, in the order of the lines. `which`: of OpenAI's files. */
  async *results(id: string, which: 'output' | 'errors' | 'all'): AsyncGenerator<string> {
    let lines = this.#database.read
      .selectFrom('batch_lines')
      .selectAll()
      .where('batch_id', '=', id)
      .where('body', 'is not', null)
      .where('outcome', 'is not', null);
    if (which === 'output') lines = lines.where('outcome', '=', 'succeeded');
    if (which === 'errors') lines = lines.where('outcome', '<>', 'succeeded');
    for await (const rows of linePages(lines, 16))
      for (const row of rows) yield `${await this.textOf(row)}\n`;
  }

  /** Yields pages of lines that may have a hold, without their long texts. */
  unended(id: string): AsyncGenerator<readonly HeldLine[], void> {
    const lines = this.#database.read
      .selectFrom('batch_lines')
      .select(['line', 'request_id', 'held_micros'])
      .where('batch_id', '=', id)
      .where('outcome', 'is', null);
    return linePages(lines, stepRows);
  }

  /** Removes a batch for its owner. It counts in the limits of its day. */
  async hide(id: string): Promise<void> {
    const hidden = this.#database.write.updateTable('batches').set({ kept_until_ms: 0 });
    await hidden.where('id', '=', id).execute();
    await this.#removeLines(id);
  }

  /** Removes a batch with its lines. Their holds must have ended. */
  async remove(id: string): Promise<void> {
    await this.#removeLines(id);
    await this.#database.write.deleteFrom('sent_batches').where('batch_id', '=', id).execute();
    await this.#database.write.deleteFrom('batches').where('id', '=', id).execute();
  }

  #removeLines(id: string): Promise<void> {
    return inSteps(
      this.#database,
      id,
      (lines) =>
        sql`delete from batch_lines where batch_id = ${id} and line in (${sql.join(lines)})`,
    );
  }

  async removeExpired(nowMs: number): Promise<void> {
    const rows = await this.#database.read
      .selectFrom('batches')
      .select('id')
      .where('kept_until_ms', '<=', nowMs)
      .where('created_at_ms', '<=', nowMs - dayMs)
      .where('state', '=', 'ended')
      .limit(20)
      .execute();
    for (const { id } of rows) await this.remove(id);
  }

  /** Returns holds of lines that were opened before a time. */
  async holdsBefore(timeMs: number): Promise<readonly string[]> {
    const rows = await this.#database.read
      .selectFrom('holds')
      .select('id')
      .where('owner', '=', batchOwner)
      .where('created_at_ms', '<', timeMs)
      .limit(stepRows)
      .execute();
    return rows.map(({ id }) => id);
  }

  /** Returns how many batches of the account have not ended, with those that are being created. */
  async countOpen(accountId: string): Promise<number> {
    const { open } = await this.#database.read
      .selectFrom('batches')
      .select(({ fn }) => fn.countAll<number>().as('open'))
      .where('account_id', '=', accountId)
      .where('state', '<>', sql<'ended'>`'ended'`)
      .executeTakeFirstOrThrow();
    return open;
  }

  /** Returns what the account has put into batches since a time. */
  async since(accountId: string, sinceMs: number): Promise<Pick<Batch, 'lines' | 'bytes'>> {
    const { lines, bytes } = await this.#database.read
      .selectFrom('batches')
      .select(({ fn }) => [
        fn.sum<number | null>('lines').as('lines'),
        fn.sum<number | null>('bytes').as('bytes'),
      ])
      .where('account_id', '=', accountId)
      .where('created_at_ms', '>', sinceMs)
      .executeTakeFirstOrThrow();
    return { lines: lines ?? 0, bytes: bytes ?? 0 };
  }

  #of({ accountId, mode }: Owner) {
    return this.#shownOf(accountId).where('mode', '=', mode);
  }

  /** Without those that its keys have removed, or that are still being created. */
  #shownOf(accountId: string) {
    return this.#database.read
      .selectFrom('batches')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('kept_until_ms', '>', 0)
      .where('state', '<>', sql<'creating'>`'creating'`);
  }
}

export function statusOf({ state, cancelled_at_ms: at }: Batch, { expired }: Counts): BatchStatus {
  if (state === 'cancelling') return 'cancelling';
  if (state !== 'ended') return 'in_progress';
  if (at !== null) return 'cancelled';
  return expired.lines > 0 ? 'expired' : 'completed';
}

const stepRows = 200;

/** Runs a statement on a few lines at a time, so that other writers never wait long. */
async function inSteps(
  { read, write }: Database,
  id: string,
  statement: (lines: readonly number[]) => ReturnType<typeof sql>,
) {
  const lines = read.selectFrom('batch_lines').select('line').where('batch_id', '=', id);
  for await (const rows of linePages(lines, stepRows))
    await statement(rows.map(({ line }) => line)).execute(write);
}

export async function eraseResults(database: Database, accountId: string): Promise<void> {
  const { read } = database;
  const batches = read.selectFrom('batches').select('id').where('account_id', '=', accountId);
  for (const { id } of await batches.execute()) {
    await inSteps(
      database,
      id,
      (lines) => sql`update batch_lines set body = null where batch_id = ${id}
        and outcome is not null and line in (${sql.join(lines)})`,
    );
    // A running batch still gets results.
    await database.write
      .updateTable('batches')
      .set({ output_removed: 1, errors_removed: 1 })
      .where('id', '=', id)
      .where('state', '=', 'ended')
      .execute();
  }
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text) + 1;
}

/** A text opens only in its own row, and only as what it is. */
function contextOf(batchId: string, line: number, outcome: LineOutcome | null): string {
  return `${batchId} ${line} ${outcome === null ? 'request' : 'result'}`;
}
