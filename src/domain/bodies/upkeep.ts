// Removes kept bodies that are expired, erased, or beyond the budget of the disk.
import { setImmediate } from 'node:timers/promises';
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../../db/database.ts';
import { firstWithin } from '../../lib/first-within.ts';
import { TableBudget } from '../../lib/table-budget.ts';
import { dayMs } from '../../lib/utc-time.ts';
import { belowGeneration } from '../../db/below-generation.ts';

type UpkeepOptions = {
  readonly database: Database;
  readonly daysMax: number;
  /** The budget of the table. */
  readonly diskBytes: number;
};

type Row = {
  readonly account_id: string;
  readonly request_id: string;
  readonly created_at_ms: number;
  readonly size_bytes: number;
};

/** The longest time from a row's timestamp to its commit, if the database works. */
const commitMs = 30_000;
/** The most that one step removes, so that other writers never wait long. */
const stepRows = 200;
const stepBytes = 4 * 1024 * 1024;
const pageRows = 1_000;

export class BodyUpkeep {
  readonly #database: Database;
  readonly #daysMax: number;
  readonly #budget;

  constructor({ database, daysMax, diskBytes }: UpkeepOptions) {
    this.#database = database;
    this.#daysMax = daysMax;
    this.#budget = new TableBudget(
      {
        measureSince: (timeMs) => measureSince(database, timeMs),
        pagesFromNewest: () => pagesFromNewest(database),
        timeOf: (row) => row.created_at_ms,
        removeOldest: (newest) => removeOldest(database, newest),
      },
      { diskBytes, commitMs },
    );
  }

  async run(nowMs: number): Promise<void> {
    await removeWhere(this.#database, sql`expires_at_ms <= ${nowMs}`);
    // The operator may have lowered the most days.
    await removeWhere(this.#database, sql`created_at_ms <= ${nowMs - this.#daysMax * dayMs}`);
    await removeErased(this.#database);
    await this.#budget.keep(nowMs);
  }
}

/** Removes a row and all older ones. */
async function removeOldest(
  database: Database,
  { created_at_ms, account_id, request_id }: Row,
): Promise<void> {
  await removeWhere(
    database,
    sql`(created_at_ms, account_id, request_id) <= (${created_at_ms}, ${account_id}, ${request_id})`,
  );
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
