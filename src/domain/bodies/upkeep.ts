// Removes kept bodies that are expired, erased, or beyond the budget of the disk.
import { setImmediate } from 'node:timers/promises';
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../../db/database.ts';
import { firstWithin } from '../../lib/first-within.ts';
import { belowGeneration } from './generation.ts';

type UpkeepOptions = {
  readonly database: Database;
  readonly daysMax: number;
  /** The budget of the table. */
  readonly diskBytes: number;
};

/** The table's size at the last count, plus everything stored since. */
type Measured = { readonly bytes: number; readonly newestMs: number; readonly countedAtMs: number };
type Row = {
  readonly account_id: string;
  readonly request_id: string;
  readonly created_at_ms: number;
  readonly size_bytes: number;
};

const dayMs = 86_400_000;
const countEveryMs = 60 * 60_000;
/** The longest time from a row's timestamp to its commit, if the database works. */
const commitMs = 30_000;
/** The most that one step removes, so that other writers never wait long. */
const stepRows = 200;
const stepBytes = 4 * 1024 * 1024;
const pageRows = 1_000;

export class BodyUpkeep {
  readonly #options: UpkeepOptions;
  #measured: Measured | null = null;

  constructor(options: UpkeepOptions) {
    this.#options = options;
  }

  async run(nowMs: number): Promise<void> {
    const { database, daysMax } = this.#options;
    await removeWhere(database, sql`expires_at_ms <= ${nowMs}`);
    // The operator may have lowered the most days.
    await removeWhere(database, sql`created_at_ms <= ${nowMs - daysMax * dayMs}`);
    await removeErased(database);
    await this.#keepToBudget(nowMs);
  }

  /** Counts all rows only when the budget may be exceeded, and once an hour. */
  async #keepToBudget(nowMs: number): Promise<void> {
    const { database, diskBytes } = this.#options;
    if (this.#measured && nowMs - this.#measured.countedAtMs < countEveryMs) {
      const { bytes, newestMs } = await measureSince(database, this.#measured.newestMs - commitMs);
      this.#measured = {
        ...this.#measured,
        bytes: this.#measured.bytes + bytes,
        newestMs: Math.max(this.#measured.newestMs, newestMs ?? 0),
      };
      if (this.#measured.bytes <= diskBytes) return;
    }
    const { tooOld, ...counted } = await this.#count();
    if (tooOld) {
      const { created_at_ms, account_id, request_id } = tooOld;
      await removeWhere(
        database,
        sql`(created_at_ms, account_id, request_id) <= (${created_at_ms}, ${account_id}, ${request_id})`,
      );
    }
    this.#measured = { ...counted, countedAtMs: nowMs };
  }

  /** Trims to slightly below the budget, so that the table is not full again within a minute. */
  async #count() {
    const { database, diskBytes } = this.#options;
    const keptBytesMax = diskBytes - Math.floor(diskBytes / 16);
    let [bytes, keptBytes, newestMs] = [0, 0, 0];
    let tooOld: Row | null = null;
    for await (const page of pagesFromNewest(database)) {
      newestMs ||= page[0]!.created_at_ms;
      for (const row of page) {
        bytes += row.size_bytes;
        if (bytes > keptBytesMax) tooOld ??= row;
        else keptBytes = bytes;
      }
      if (bytes > diskBytes) return { bytes: keptBytes, newestMs, tooOld };
    }
    return { bytes, newestMs, tooOld: null };
  }
}

/** Removes an account's bodies from before its answers were erased. Returns how many requests had some. */
export function removeErasedOf(database: Database, accountId: string): Promise<number> {
  return removeWhere(
    database,
    sql`account_id = ${accountId} and generation <
      (select ${belowGeneration} from accounts where accounts.id = ${accountId})`,
  );
}

/** Removes rows that were stored during an erasure, or left over from an interrupted one. */
async function removeErased(database: Database): Promise<void> {
  const find = sql<Row>`select kept_bodies.account_id, request_id, size_bytes from accounts
    join kept_bodies on kept_bodies.account_id = accounts.id and generation < ${belowGeneration}
    where (cache_generation > 0 or retain_responses = 0) limit ${sql.lit(stepRows)}`;
  await removeInSteps(database, find);
}

function removeWhere(database: Database, condition: RawBuilder<unknown>): Promise<number> {
  const find = sql<Row>`select account_id, request_id, size_bytes from kept_bodies
    where ${condition} limit ${sql.lit(stepRows)}`;
  return removeInSteps(database, find);
}

/** Returns how many rows were removed. */
async function removeInSteps(database: Database, find: RawBuilder<Row>): Promise<number> {
  let removed = 0;
  for (;;) {
    const { rows } = await find.execute(database.read);
    if (rows.length === 0) return removed;
    const step = firstWithin(rows, stepBytes, (row) => row.size_bytes);
    // Sorted, so that two gateways lock rows in one order and do not deadlock.
    const ids = step.toSorted(byId).map((row) => sql`(${row.account_id}, ${row.request_id})`);
    const statement = sql`delete from kept_bodies where (account_id, request_id) in (values ${sql.join(ids)})`;
    await statement.execute(database.transient);
    removed += step.length;
    // SQLite runs on this thread: requests are served between the steps.
    await setImmediate();
  }
}

function byId(one: Row, other: Row): number {
  return one.account_id + one.request_id < other.account_id + other.request_id ? -1 : 1;
}

async function* pagesFromNewest({ read }: Database): AsyncGenerator<readonly Row[]> {
  const newest = read
    .selectFrom('kept_bodies')
    .select(['created_at_ms', 'account_id', 'request_id', 'size_bytes'])
    .orderBy('created_at_ms', 'desc')
    .orderBy('account_id', 'desc')
    .orderBy('request_id', 'desc')
    .limit(pageRows);
  let page = await newest.execute();
  for (let last = page.at(-1); last; last = page.at(-1)) {
    yield page;
    await setImmediate();
    const { created_at_ms, account_id, request_id } = last;
    page = await newest
      .where(
        sql<boolean>`(created_at_ms, account_id, request_id) < (${created_at_ms}, ${account_id}, ${request_id})`,
      )
      .execute();
  }
}

async function measureSince({ read }: Database, createdAfterMs: number) {
  return read
    .selectFrom('kept_bodies')
    .select([
      sql<number>`cast(coalesce(sum(size_bytes), 0) as bigint)`.as('bytes'),
      ({ fn }) => fn.max('created_at_ms').as('newestMs'),
    ])
    .where('created_at_ms', '>', createdAfterMs)
    .executeTakeFirstOrThrow();
}
