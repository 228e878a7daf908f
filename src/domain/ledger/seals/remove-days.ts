// Removes the charges of old sealed days, each after its file was written and read back. The entries
// stay: balances are proved by them, and every batch looks up entries by their id.
import { existsSync } from 'node:fs';
import type { Database } from '../../../db/database.ts';
import { isSqlite } from '../../../db/dialect.ts';
import type { Db } from '../../../db/schema.ts';
import { sql } from 'kysely';
import { findChargeWithoutEntry } from '../reports/compare-sums.ts';
import type { Problem } from '../reports/audit.ts';
import { exportDay, exportPath } from './export-file.ts';
import { countPartitions, dropPartitions } from './partitions.ts';
import { readCovered } from './journal.ts';
import { positionOf, readSeals, type SealRow, wrongSeal } from './seals.ts';
import { dayMs } from '../../../lib/utc-time.ts';

export type Retention = {
  /** A day goes when the newest sealed day is so many days later. */
  readonly chargesDays: number;
  /** An absolute path. */
  readonly exportFolder: string;
};

export type Removal =
  | {
      readonly kind: 'removed';
      readonly day: string;
      readonly charges: number;
      readonly file: string;
    }
  | { readonly kind: 'not-removed'; readonly day: string; readonly problem: Problem }
  /** The file could not be written or read. */
  | { readonly kind: 'not-exported'; readonly day: string; readonly message: string };

type RemoveOptions = {
  readonly retention: Retention;
  readonly tell: (event: Removal) => void;
  /** Returns false when another gateway has taken the turn. */
  readonly keepTurn: () => Promise<boolean>;
  readonly clock: () => Promise<number>;
  /** Waits between two steps of a deletion, in which the ledger writes. */
  readonly pause: () => Promise<void>;
};

/** Removes days in order, and stops at the first that cannot be removed. */
export async function removeOldDays(database: Database, options: RemoveOptions): Promise<void> {
  const seals = await readSeals(database.read);
  const keptMs = (seals.at(-1)?.until_ms ?? 0) - options.retention.chargesDays * dayMs;
  for (const [index, seal] of seals.entries()) {
    if (seal.removed_at_ms !== null) continue;
    // A removal that has begun is finished, even if `charges_days` was raised since.
    if (seal.until_ms > keptMs && seal.removing_since_ms === null) return;
    if (!(await options.keepTurn())) return;
    const removal = await removeDay(database, { before: seals[index - 1], seal, ...options });
    if (!removal) return;
    options.tell(removal);
    if (removal.kind !== 'removed') return;
  }
}

type Removed = RemoveOptions & { readonly before: SealRow | undefined; readonly seal: SealRow };

/** Returns null when another gateway has taken the turn. */
async function removeDay(database: Database, options: Removed): Promise<Removal | null> {
  const { seal, retention, clock } = options;
  const { day } = seal;
  // Before the comparison, so that it covers every charge that is counted.
  const counts = isSqlite(database.read)
    ? new Map<string, number>()
    : await countPartitions(database.read, seal.until_ms);
  const refusal = await exportOrFind(database.read, options);
  if (refusal !== null) return refusal;
  // From here on the charges of the day may be deleted, and no longer be read.
  if (seal.removing_since_ms === null)
    await markSeal(database.write, day, { removing_since_ms: await clock() });
  await dropPartitions(database.write, counts);
  if (!(await deleteCharges(database, options))) return null;
  if (!(await deleteTags(database, options))) return null;
  await markSeal(database.write, day, { removed_at_ms: await clock() });
  const file = exportPath(retention.exportFolder, day);
  return { kind: 'removed', day, charges: seal.charges, file };
}

/** Returns null when this host has the file of the day, and it matches. */
async function exportOrFind(
  read: Db,
  { before, seal, retention }: Removed,
): Promise<Removal | null> {
  const { day } = seal;
  const file = exportPath(retention.exportFolder, day);
  if (seal.removing_since_ms !== null && !existsSync(file))
    return { kind: 'not-exported', day, message: `${file} is not on this host` };
  const span = { before: positionOf(before), seal: positionOf(seal) };
  const uncovered = await findUncovered(read, seal);
  if (uncovered) return { kind: 'not-removed', day, problem: uncovered };
  try {
    const matches = await exportDay(retention.exportFolder, seal, () => readCovered(read, span));
    if (matches) return null;
  } catch (error) {
    return { kind: 'not-exported', day, message: (error as Error).message };
  }
  const problem = wrongSeal(seal, 'charges_digest', seal.charges_digest, `another in ${file}`);
  return { kind: 'not-removed', day, problem };
}

/** Finds a charge from before the end of the day that is in no file: no seal covers it. */
async function findUncovered(read: Db, seal: SealRow): Promise<Problem | null> {
  const span = { fromMs: 0, toMs: seal.until_ms, lastSeq: seal.last_seq };
  const uncovered = await findChargeWithoutEntry(read, span);
  if (uncovered || seal.removing_since_ms !== null) return uncovered;
  const { count } = await read
    .selectFrom('charges')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('ledger_id', 'in', (eb) => eb.selectFrom('ledgers').select('ledgers.id'))
    .where('created_at_ms', '<', seal.until_ms)
    .executeTakeFirstOrThrow();
  return Number(count) === seal.charges
    ? null
    : wrongSeal(seal, 'charges', seal.charges, Number(count));
}

async function markSeal(
  write: Db,
  day: string,
  times: { readonly removing_since_ms: number } | { readonly removed_at_ms: number },
): Promise<void> {
  await write.updateTable('sealed_days').set(times).where('day', '=', day).execute();
}

/**
 * Rows of one transaction: it takes a few milliseconds, and charges are booked between two. None waits
 * for the disk: the mark before them does, and the one after them flushes them all.
 */
const rowsAtOnce = 500;

/** A statement counts as so many rows at least, so that many small ledgers are not deleted in one go. */
const rowsOfStatement = 10;
/** Steps after which the turn is prolonged: about a minute. */
const stepsOfTurn = 400;

/** Returns false when another gateway has taken the turn. */
async function deleteCharges(database: Database, options: Removed): Promise<boolean> {
  const { read, transient } = database;
  const { seal } = options;
  // Partitions that cannot be dropped, and the default partition, still have charges.
  const older = read.selectFrom('charges').select('id').where('created_at_ms', '<', seal.until_ms);
  if (!isSqlite(read) && !(await older.limit(1).executeTakeFirst())) return options.keepTurn();
  return deleteInSteps(database.read, options, 'charges', (id, fromMs) =>
    deleteSome(transient, { seal, id, fromMs }),
  );
}

/** Deletes the tags of removed charges; their sums stay. */
async function deleteTags(database: Database, options: Removed): Promise<boolean> {
  return deleteInSteps(database.read, options, 'charge_tags', async (id, fromMs) => {
    const { rows } = await sql<{ created_at_ms: number }>`
      delete from charge_tags where (ledger_id, tag, created_at_ms, charge_id) in (
        select ledger_id, tag, created_at_ms, charge_id from charge_tags
        where ledger_id = ${id} and created_at_ms >= ${fromMs}
          and created_at_ms < ${options.seal.until_ms}
        order by created_at_ms limit ${sql.lit(rowsAtOnce)}
      ) returning created_at_ms`.execute(database.transient);
    return rows.map(({ created_at_ms: timeMs }) => timeMs);
  });
}

/** Deletes at most `rowsAtOnce` rows of a ledger from this time on, and returns their times. */
type DeleteSome = (ledgerId: string, fromMs: number) => Promise<readonly number[]>;

/** Returns false when another gateway has taken the turn. */
async function deleteInSteps(
  read: Db,
  { seal, keepTurn, pause }: Removed,
  table: 'charges' | 'charge_tags',
  deleteRows: DeleteSome,
): Promise<boolean> {
  const ledgers = await read.selectFrom('ledgers').select('id').execute();
  let rows = 0;
  let steps = 0;
  for (const { id } of ledgers) {
    const { rows: older } = await sql`select 1 from ${sql.table(table)}
      where ledger_id = ${id} and created_at_ms < ${seal.until_ms} limit 1`.execute(read);
    let fromMs: number | null = older.length > 0 ? 0 : null;
    while (fromMs !== null) {
      const deleted: readonly number[] = await deleteRows(id, fromMs);
      fromMs = deleted.length === rowsAtOnce ? Math.max(...deleted) : null;
      rows += Math.max(deleted.length, rowsOfStatement);
      if (rows < rowsAtOnce) continue;
      rows = 0;
      steps += 1;
      await pause();
      if (steps % stepsOfTurn === 0 && !(await keepTurn())) return false;
    }
  }
  return keepTurn();
}

type Step = { readonly seal: SealRow; readonly id: string; readonly fromMs: number };

/**
 * Deletes exported charges of a ledger from this time on, and returns their times. Those of earlier
 * steps are not passed over again: dead rows stay in PostgreSQL's index while an old snapshot lasts.
 */
async function deleteSome(transient: Db, { seal, id, fromMs }: Step): Promise<readonly number[]> {
  const { rows } = await sql<{ created_at_ms: number }>`
    delete from charges where (ledger_id, created_at_ms, id) in (
      select ledger_id, created_at_ms, id from charges
      where ledger_id = ${id} and created_at_ms >= ${fromMs} and created_at_ms < ${seal.until_ms}
        and exists (select 1 from entries where entries.id = charges.id
          and entries.kind = 'settle' and entries.seq <= ${seal.last_seq})
      order by created_at_ms limit ${sql.lit(rowsAtOnce)}
    ) returning created_at_ms`.execute(transient);
  return rows.map(({ created_at_ms: timeMs }) => timeMs);
}
