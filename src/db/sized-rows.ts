// A table of rows that are kept for a while, within a share of the disk. Rows are removed in small
// steps: those that match a condition, and the oldest beyond the share.
import { setImmediate } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { firstWithin } from '../lib/first-within.ts';
import { belowGeneration } from './below-generation.ts';
import type { Database } from './database.ts';

/** A table with the key `account_id` and `name`, and the bytes of each row in `size_bytes`. */
type SizedTable = {
  readonly table: 'cached_responses' | 'kept_bodies';
  readonly name: 'digest' | 'request_id';
  /** The time by which one row is older than another. */
  readonly time: 'expires_at_ms' | 'created_at_ms';
};

type Row = {
  readonly account_id: string;
  readonly name: string;
  readonly time_ms: number;
  readonly size_bytes: number;
};

type Share = {
  readonly diskBytes: number;
  /** The longest time from a row's timestamp to its commit, if the database works. */
  readonly commitMs: number;
};

/** An upper bound of the table's size: the last full count, plus everything stored since. */
type Measured = { readonly bytes: number; readonly newestMs: number; readonly countedAtMs: number };

/**
 * The most that one step removes, so that other writers never wait long: long bodies take long to
 * delete.
 */
const stepRows = 200;
const stepBytes = 4 * 1024 * 1024;
const pageRows = 1_000;
const countEveryMs = 60 * 60_000;

export class SizedRows {
  readonly #database: Database;
  readonly #table: RawBuilder<unknown>;
  readonly #time: RawBuilder<number>;
  /** The columns in the order of age. */
  readonly #age: RawBuilder<unknown>;
  /** Of the rows without their bodies, from an index alone. */
  readonly #select: RawBuilder<unknown>;
  readonly #nameColumn: RawBuilder<unknown>;
  #measured: Measured | null = null;

  constructor(database: Database, { table, name, time }: SizedTable) {
    this.#database = database;
    this.#table = sql.table(table);
    this.#time = sql.ref<number>(time);
    this.#nameColumn = sql.ref(name);
    this.#age = sql`${this.#time}, account_id, ${this.#nameColumn}`;
    this.#select = sql`select account_id, ${this.#nameColumn} as name, ${this.#time} as time_ms,
      size_bytes from ${this.#table}`;
  }

  /**
   * Removes the rows that match, and returns their number. They are found without the write lock and
   * deleted only if unchanged: a row that was replaced since stays. `which`: an SQL condition,
   * perhaps with an order.
   */
  async remove(which: RawBuilder<unknown>): Promise<number> {
    const find = sql<Row>`${this.#select} where ${which} limit ${sql.lit(stepRows)}`;
    let removed = 0;
    for (;;) {
      const { rows } = await find.execute(this.#database.read);
      if (rows.length === 0) return removed;
      // Sorted, so that two gateways at the same work lock rows in one order and do not deadlock.
      const step = firstWithin(rows, stepBytes, (row) => row.size_bytes).toSorted(byKey);
      const seen = step.map(
        (row) => sql`(${row.account_id}, ${row.name}, cast(${row.time_ms} as bigint))`,
      );
      await sql`delete from ${this.#table} where (account_id, ${this.#nameColumn}, ${this.#time})
        in (values ${sql.join(seen)})`.execute(this.#database.transient);
      removed += step.length;
      // SQLite runs on this thread: requests are served between the steps.
      await setImmediate();
    }
  }

  /** Removes an account's rows from before its answers were erased. Returns their number. */
  removeErasedOf(accountId: string): Promise<number> {
    return this.remove(
      sql`account_id = ${accountId} and generation <
        (select ${belowGeneration} from accounts where accounts.id = ${accountId})`,
    );
  }

  /**
   * Removes the oldest rows when the table has grown beyond its share. Counts all rows only when it
   * may have, and once an hour in case a timestamp was wrong.
   */
  async keepWithin({ diskBytes, commitMs }: Share, nowMs: number): Promise<void> {
    if (this.#measured && nowMs - this.#measured.countedAtMs < countEveryMs) {
      const { bytes, newestMs } = await this.#measureSince(this.#measured.newestMs - commitMs);
      this.#measured = {
        ...this.#measured,
        bytes: this.#measured.bytes + bytes,
        newestMs: Math.max(this.#measured.newestMs, newestMs ?? 0),
      };
      if (this.#measured.bytes <= diskBytes) return;
    }
    const { tooOld, ...counted } = await this.#count(diskBytes);
    if (tooOld)
      await this.remove(sql`(${this.#age}) <= ${positionOf(tooOld)} order by ${this.#time}`);
    this.#measured = { ...counted, countedAtMs: nowMs };
  }

  /**
   * `tooOld`: the newest row to remove. Trims to slightly below the share, so that the table is not
   * full again within a minute.
   */
  async #count(diskBytes: number) {
    const keptBytesMax = diskBytes - Math.floor(diskBytes / 16);
    let [bytes, keptBytes, newestMs] = [0, 0, 0];
    let tooOld: Row | null = null;
    for await (const page of this.#pagesFromNewest()) {
      newestMs ||= page[0]!.time_ms;
      for (const row of page) {
        bytes += row.size_bytes;
        if (bytes > keptBytesMax) tooOld ??= row;
        else keptBytes = bytes;
      }
      if (bytes > diskBytes) return { bytes: keptBytes, newestMs, tooOld };
    }
    return { bytes, newestMs, tooOld: null };
  }

  async *#pagesFromNewest(): AsyncGenerator<readonly Row[]> {
    const order = sql`order by ${this.#time} desc, account_id desc, ${this.#nameColumn} desc
      limit ${sql.lit(pageRows)}`;
    let page = await this.#read(order);
    for (let last = page.at(-1); last; last = page.at(-1)) {
      yield page;
      await setImmediate();
      page = await this.#read(sql`where (${this.#age}) < ${positionOf(last)} ${order}`);
    }
  }

  async #read(which: RawBuilder<unknown>): Promise<readonly Row[]> {
    return (await sql<Row>`${this.#select} ${which}`.execute(this.#database.read)).rows;
  }

  /** Returns the bytes of rows newer than a time, and the newest time; null: there are none. */
  async #measureSince(timeMs: number) {
    const { rows } = await sql<{ readonly bytes: number; readonly newestMs: number | null }>`
      select cast(coalesce(sum(size_bytes), 0) as bigint) as bytes, max(${this.#time}) as ${sql.ref('newestMs')}
      from ${this.#table} where ${this.#time} > ${timeMs}`.execute(this.#database.read);
    return rows[0]!;
  }
}

function positionOf({ time_ms, account_id, name }: Row): RawBuilder<unknown> {
  return sql`(${time_ms}, ${account_id}, ${name})`;
}

function byKey(one: Row, other: Row): number {
  return one.account_id + one.name < other.account_id + other.name ? -1 : 1;
}
