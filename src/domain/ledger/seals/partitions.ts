// The partitions of `charges` on PostgreSQL, one for each UTC day. They are made some days ahead. A
// charge without one goes to the default partition, which is slower to clean up but never wrong.
import { sql } from 'kysely';
import { codeOf } from '../../../db/postgres/error.ts';
import type { Db } from '../../../db/schema.ts';
import { systemClock } from '../../../lib/clock.ts';
import { dayMs, dayOf } from '../../../lib/utc-time.ts';

const daysAhead = 7;
/** New partitions of one look. */
const createdMax = 3;

/** Bounds in Unix milliseconds; `toMs` is exclusive. The oldest begins at `-Infinity`. */
type Partition = { readonly name: string; readonly fromMs: number; readonly toMs: number };

/** Makes the partitions of coming days. Leaves out days of which the default partition has charges. */
export async function createPartitions(write: Db, nowMs: number): Promise<void> {
  const partitions = await readPartitions(write);
  const todayMs = Math.floor(nowMs / dayMs) * dayMs;
  const missing = Array.from({ length: daysAhead }, (_, day) => todayMs + day * dayMs).filter(
    (fromMs) => !partitions.some((one) => one.fromMs <= fromMs && fromMs < one.toMs),
  );
  for (const fromMs of missing.slice(0, createdMax)) await createPartition(write, fromMs);
}

async function createPartition(write: Db, fromMs: number): Promise<void> {
  const name = `charges_${dayOf(fromMs).replaceAll('-', '_')}`;
  const toMs = fromMs + dayMs;
  try {
    await withLocks(write, [
      `create table ${name} (like charges including all)`,
      `alter table ${name} replica identity full`,
      `create trigger ${name}_refuse_truncate before truncate on ${name} for each statement execute function refuse_change()`,
      `alter table charges attach partition ${name} for values from (${fromMs}) to (${toMs})`,
    ]);
  } catch (error) {
    const isInDefault = codeOf(error) === '23514';
    if (!isInDefault) throw error;
  }
}

/** Charges by the name of their partition. */
type Counts = ReadonlyMap<string, number>;

/** Counts the charges of the partitions that end at or before this. */
export async function countPartitions(db: Db, untilMs: number): Promise<Counts> {
  const counts = new Map<string, number>();
  for (const { name, toMs } of await readPartitions(db))
    if (toMs <= untilMs) counts.set(name, await countRows(db, name));
  return counts;
}

/**
 * Drops these partitions, whose charges must have been exported. No trigger guards a drop, so throws
 * when a partition has another number of charges than was counted before the export was compared.
 */
export async function dropPartitions(write: Db, counts: Counts): Promise<void> {
  for (const [name, counted] of counts)
    await withLocks(write, [`lock table ${name} in share mode`], async (transaction) => {
      const found = await countRows(transaction, name);
      if (found !== counted) throw new Error(`${name} has ${found} charges, ${counted} before`);
      await sql.raw(`drop table ${name}`).execute(transaction);
    });
}

async function countRows(db: Db, name: string): Promise<number> {
  const { rows } = await sql<{
    count: number;
  }>`select count(*) as count from ${sql.raw(name)}`.execute(db);
  return rows[0]!.count;
}

/** All but the default partition. */
async function readPartitions(db: Db): Promise<readonly Partition[]> {
  const { rows } = await sql<{ name: string; bound: string }>`
    select pg_class.oid::regclass::text as name, pg_get_expr(relpartbound, pg_class.oid) as bound
    from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'charges'::regclass`.execute(
    db,
  );
  return rows.flatMap(({ name, bound }) => {
    const [, from, to] =
      /^FOR VALUES FROM \('?(\d+|MINVALUE)'?\) TO \('?(\d+)'?\)$/.exec(bound) ?? [];
    if (from === undefined || to === undefined) return [];
    return [{ name, fromMs: from === 'MINVALUE' ? -Infinity : Number(from), toMs: Number(to) }];
  });
}

/** Requests wait no longer than this behind a lock that is not granted; then it is tried again. */
const lockTimeoutMs = 200;
const pauseMs = 1_000;
const attemptsMax = 60;
const lockNotAvailable = '55P03';

async function withLocks(
  write: Db,
  statements: readonly string[],
  then?: (transaction: Db) => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await write.transaction().execute(async (transaction) => {
        await sql.raw(`set local lock_timeout = ${lockTimeoutMs}`).execute(transaction);
        for (const statement of statements) await sql.raw(statement).execute(transaction);
        await then?.(transaction);
      });
      return;
    } catch (error) {
      if (codeOf(error) !== lockNotAvailable || attempt === attemptsMax) throw error;
      await systemClock.sleep(pauseMs);
    }
  }
}
