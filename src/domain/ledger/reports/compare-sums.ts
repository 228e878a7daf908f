// Compares every derived number of the ledger with the journal's sums: balances, totals, windows,
// open holds.
import type { Kysely } from 'kysely';
import type { Tables } from '../../../db/schema.ts';
import { type Audit, firstDifference, type Problem, windowId } from './audit.ts';
import { chargeDayId } from '../charge-days.ts';
import { lossDayId } from '../loss-days.ts';
import type { EntryRow } from '../rows.ts';

/** Returns the first row, by table and id, that differs, is missing or is unexpected; or null. */
export async function compareSums(db: Kysely<Tables>, audit: Audit): Promise<Problem | null> {
  const ledgers = await db.selectFrom('ledgers').selectAll().execute();
  const windows = await db.selectFrom('key_windows').selectAll().execute();
  const days = await db.selectFrom('charge_days').selectAll().execute();
  const losses = await db.selectFrom('loss_days').selectAll().execute();
  const holds = await db.selectFrom('holds').selectAll().execute();
  return (
    compareTable('ledgers', audit.ledgers, new Map(ledgers.map((row) => [row.id, row]))) ??
    compareTable(
      'key_windows',
      audit.windows,
      new Map(windows.map((row) => [windowId(row.key_id, row.kind, row.starts_on), row])),
    ) ??
    compareTable(
      'charge_days',
      audit.chargeDays,
      new Map(days.map((row) => [chargeDayId(row), row])),
    ) ??
    compareTable(
      'loss_days',
      audit.lossDays,
      new Map(losses.map((row) => [lossDayId(row), row])),
    ) ??
    compareTable(
      'holds',
      new Map([...audit.open].map(([id, reserve]) => [id, expectedHold(reserve)])),
      new Map(holds.map((row) => [row.id, row])),
    )
  );
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

function compareTable(
  table: Problem['table'],
  expected: ReadonlyMap<string, object>,
  found: ReadonlyMap<string, object>,
): Problem | null {
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
