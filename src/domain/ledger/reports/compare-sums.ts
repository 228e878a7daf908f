// Compares every derived number of the ledger with the journal's sums: balances, totals, windows,
// open holds.
import type { Selectable } from 'kysely';
import type { Db, Tables } from '../../../db/schema.ts';
import { type Audit, firstDifference, type Problem, windowId } from './audit.ts';
import { chargeDaysTable } from '../charge-days.ts';
import { lossDaysTable } from '../loss-days.ts';
import { dayOf, hourMs, monthOf } from '../../../lib/utc-time.ts';
import type { EntryRow } from '../columns.ts';

/**
 * Returns the first row, by table and id, that differs, is missing or is unexpected; or null. An
 * audit that began at a seal knows the daily sums and windows from `sinceMs` on.
 */
export async function compareSums(
  db: Db,
  audit: Audit,
  sinceMs: number | null = null,
): Promise<Problem | null> {
  const ledgers = await db.selectFrom('ledgers').selectAll().execute();
  const windows = await readWindows(db, audit, sinceMs);
  const sums = await readDaySums(db, { fromDay: sinceMs === null ? '' : dayOf(sinceMs) });
  const holds = await db.selectFrom('holds').selectAll().execute();
  return (
    compareTable('ledgers', audit.ledgers, ledgers, ({ id }) => id) ??
    compareTable('key_windows', audit.windows, windows, idOfWindow) ??
    compareDays(audit, sums) ??
    compareTable(
      'holds',
      new Map([...audit.open].map(([id, reserve]) => [id, expectedHold(reserve)])),
      holds,
      ({ id }) => id,
    )
  );
}

type WindowRow = Selectable<Tables['key_windows']>;

function idOfWindow({ key_id, kind, starts_on }: WindowRow): string {
  return windowId(key_id, kind, starts_on);
}

/** Reads the windows that the audit has, and any that it should have. */
async function readWindows(
  db: Db,
  audit: Audit,
  sinceMs: number | null,
): Promise<readonly WindowRow[]> {
  const all = db.selectFrom('key_windows').selectAll();
  if (sinceMs === null) return all.execute();
  const current = await all
    .where((eb) =>
      eb.or([
        eb.and([eb('kind', '=', 'day'), eb('starts_on', '>=', dayOf(sinceMs))]),
        eb.and([eb('kind', '=', 'month'), eb('starts_on', '>=', monthOf(sinceMs))]),
      ]),
    )
    .execute();
  const read = new Set(current.map(idOfWindow));
  const older: WindowRow[] = [];
  for (const id of new Set(audit.windows.keys()).difference(read)) {
    const [, keyId, kind, startsOn] = /^(.*) (day|month) (.*)$/s.exec(id)!;
    const row = await all
      .where('key_id', '=', keyId!)
      .where('kind', '=', kind as WindowRow['kind'])
      .where('starts_on', '=', startsOn!)
      .executeTakeFirst();
    if (row) older.push(row);
  }
  return [...current, ...older];
}

type DaySums = {
  readonly chargeDays: readonly Selectable<Tables['charge_days']>[];
  readonly lossDays: readonly Selectable<Tables['loss_days']>[];
};

/** Reads the sums of these days, both included; '' is before the first day. */
export async function readDaySums(
  db: Db,
  { fromDay, toDay }: { readonly fromDay: string; readonly toDay?: string },
): Promise<DaySums> {
  let days = db.selectFrom('charge_days').selectAll().where('day', '>=', fromDay);
  let losses = db.selectFrom('loss_days').selectAll().where('day', '>=', fromDay);
  if (toDay !== undefined) {
    days = days.where('day', '<=', toDay);
    losses = losses.where('day', '<=', toDay);
  }
  return { chargeDays: await days.execute(), lossDays: await losses.execute() };
}

export function compareDays(audit: Audit, { chargeDays, lossDays }: DaySums): Problem | null {
  return (
    compareTable('charge_days', audit.chargeDays, chargeDays, chargeDaysTable.idOf) ??
    compareTable('loss_days', audit.lossDays, lossDays, lossDaysTable.idOf)
  );
}

type ChargeSpan = {
  readonly fromMs?: number;
  /** Exclusive. */
  readonly toMs?: number;
  /** A settle entry behind this does not count. */
  readonly lastSeq?: number;
};

/**
 * Finds a charge of this time without a settle entry. With `toMs` its last day is read in steps of an
 * hour, because a step of SQLite cannot be interrupted.
 */
export async function findChargeWithoutEntry(
  db: Db,
  { fromMs, toMs, lastSeq }: ChargeSpan = {},
): Promise<Problem | null> {
  if (toMs === undefined) return findInSpan(db, { fromMs, lastSeq });
  const hours = Array.from({ length: 24 }, (_, index) => toMs - (24 - index) * hourMs);
  const starts = [fromMs ?? 0, ...hours.filter((hour) => hour > (fromMs ?? 0))];
  for (const [index, start] of starts.entries()) {
    const step = { fromMs: start, toMs: starts[index + 1] ?? toMs, lastSeq };
    const problem = await findInSpan(db, step);
    if (problem) return problem;
  }
  return null;
}

type Bounds = { readonly [Name in keyof ChargeSpan]: ChargeSpan[Name] | undefined };

async function findInSpan(db: Db, { fromMs, toMs, lastSeq }: Bounds): Promise<Problem | null> {
  // By ledger, because charges are stored so.
  let query = db
    .selectFrom('charges')
    .leftJoin('entries', (join) => {
      const settle = join.onRef('entries.id', '=', 'charges.id').on('entries.kind', '=', 'settle');
      return lastSeq === undefined ? settle : settle.on('entries.seq', '<=', lastSeq);
    })
    .select('charges.id')
    .where('entries.seq', 'is', null);
  if (fromMs !== undefined || toMs !== undefined)
    query = query.where('charges.ledger_id', 'in', (eb) =>
      eb.selectFrom('ledgers').select('ledgers.id'),
    );
  if (fromMs !== undefined) query = query.where('charges.created_at_ms', '>=', fromMs);
  if (toMs !== undefined) query = query.where('charges.created_at_ms', '<', toMs);
  const found = await query.orderBy('charges.id').executeTakeFirst();
  return found
    ? { table: 'charges', id: found.id, column: 'id', expected: 'a settle entry', found: null }
    : null;
}

function expectedHold(reserve: EntryRow): object {
  const { ledger_id, key_id, day, month, daily_cap_micros, monthly_cap_micros, created_at_ms } =
    reserve;
  const amount_micros = reserve.held_delta_micros;
  return {
    ledger_id,
    key_id,
    amount_micros,
    day,
    month,
    daily_cap_micros,
    monthly_cap_micros,
    created_at_ms,
  };
}

/** Returns the first row, by id, that differs, is missing or is unexpected; or null. */
export function compareTable<Row extends object>(
  table: Problem['table'],
  expected: ReadonlyMap<string, object>,
  rows: readonly Row[],
  idOf: (row: Row) => string,
): Problem | null {
  const found = new Map(rows.map((row) => [idOf(row), row]));
  for (const id of [...new Set([...expected.keys(), ...found.keys()])].toSorted()) {
    const [wanted, row] = [expected.get(id), found.get(id)];
    const problem =
      wanted && row
        ? firstDifference({ table, id, expected: wanted, found: row })
        : {
            table,
            id,
            column: 'id',
            expected: wanted ? 'a row' : 'no row',
            found: row ? 'a row' : 'no row',
          };
    if (problem) return problem;
  }
  return null;
}
