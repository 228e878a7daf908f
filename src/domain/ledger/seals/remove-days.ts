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
  if (!(await deleteRows(database, options, 'charges'))) return null;
  if (!(await deleteRows(database, options, 'charge_tags'))) return null;
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

const keys = {
  charges: 'ledger_id, created_at_ms, id',
  charge_tags: 'ledger_id, tag, created_at_ms, charge_id',
};

/**
 * Deletes exported charges, or the tags of removed ones, whose sums stay. Rows of earlier steps are not
 * passed over again: dead rows stay in PostgreSQL's index while an old snapshot lasts. Returns false when
 * another gateway has taken the turn.
 */
async function deleteRows(
  { read, transient }: Database,
  { seal, keepTurn, pause }: Removed,
  table: keyof typeof keys,
): Promise<boolean> {
  const [from, key] = [sql.table(table), sql.raw(keys[table])];
  // Partitions that cannot be dropped, and the default partition, still have charges.
  const older = sql`select 1 from ${from} where created_at_ms < ${seal.until_ms}`;
  const isAny = async (which = sql``) =>
    (await sql`${older} ${which} limit 1`.execute(read)).rows.length > 0;
  if (table === 'charges' && !isSqlite(read) && !(await isAny())) return keepTurn();
  const isExported = sql`and exists (select 1 from entries where entries.id = charges.id
    and entries.kind = 'settle' and entries.seq <= ${seal.last_seq})`;
  let rows = 0;
  let steps = 0;
  for (const { id } of await read.selectFrom('ledgers').select('id').execute()) {
    let fromMs = (await isAny(sql`and ledger_id = ${id}`)) ? 0 : null;
    while (fromMs !== null) {
      const { rows: deleted } = await sql<{ readonly created_at_ms: number }>`
        delete from ${from} where (${key}) in (
          select ${key} from ${from} where ledger_id = ${id}
            and created_at_ms >= ${fromMs} and created_at_ms < ${seal.until_ms}
            ${table === 'charges' ? isExported : sql``}
          order by created_at_ms limit ${sql.lit(rowsAtOnce)}
        ) returning created_at_ms`.execute(transient);
      const times = deleted.map(({ created_at_ms: timeMs }) => timeMs);
      fromMs = times.length === rowsAtOnce ? Math.max(...times) : null;
      rows += Math.max(times.length, rowsOfStatement);
      if (rows < rowsAtOnce) continue;
      rows = 0;
      steps += 1;
      await pause();
      if (steps % stepsOfTurn === 0 && !(await keepTurn())) return false;
    }
  }
  return keepTurn();
}
