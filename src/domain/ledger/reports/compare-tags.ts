// Compares the sums by tag with the tagged charges.
import { sql } from 'kysely';
import type { Db } from '../../../db/schema.ts';
import type { Micros } from '../../../lib/money.ts';
import { tagDaysTable, type TagDayRow } from '../charge-tags.ts';
import { dayMs, dayOf } from '../../../lib/utc-time.ts';
import type { Problem } from './audit.ts';
import { compareTable } from './compare-sums.ts';

type Span = {
  readonly fromMs: number;
  /** Exclusive; absent: no end. */
  readonly toMs?: number;
};

/**
 * Returns the first sum by tag that differs, or the first tag without a charge, or null. The span is
 * of whole days: earlier charges may have been removed, and their sums stay.
 */
export async function compareTags(db: Db, span: Span): Promise<Problem | null> {
  const { fromMs, toMs } = span;
  const expected = new Map<string, TagDayRow>();
  for (const row of await sumTaggedCharges(db, span)) {
    const { day_number: dayNumber, first_charge: _, key_id, model_id, ...sums } = row;
    if (key_id === null || model_id === null) return tagWithoutCharge(row);
    const sum = { ...sums, key_id, model_id, day: dayOf(dayNumber * dayMs) };
    expected.set(tagDaysTable.idOf(sum), sum);
  }
  const toDay = toMs === undefined ? undefined : dayOf(toMs - 1);
  const found = await readTagDays(db, { fromDay: dayOf(fromMs), toDay });
  return compareTable('tag_days', expected, found, tagDaysTable.idOf);
}

/** Reads the sums by tag of these days, both included; '' is before the first day. */
export async function readTagDays(
  db: Db,
  { fromDay, toDay }: { readonly fromDay: string; readonly toDay?: string | undefined },
): Promise<readonly TagDayRow[]> {
  const days = db.selectFrom('tag_days').selectAll().where('day', '>=', fromDay);
  return (toDay === undefined ? days : days.where('day', '<=', toDay)).execute();
}

/** A tag without a charge has neither key nor model. */
function sumTaggedCharges(db: Db, { fromMs, toMs = Number.MAX_SAFE_INTEGER }: Span) {
  const dayNumber = sql<number>`charge_tags.created_at_ms / ${sql.lit(dayMs)}`;
  return (
    db
      .selectFrom('charge_tags')
      .leftJoin('charges', (join) =>
        join
          .onRef('charges.ledger_id', '=', 'charge_tags.ledger_id')
          .onRef('charges.created_at_ms', '=', 'charge_tags.created_at_ms')
          .onRef('charges.id', '=', 'charge_tags.charge_id'),
      )
      .select((eb) => [
        'charge_tags.ledger_id',
        'charge_tags.tag',
        dayNumber.as('day_number'),
        'charges.key_id',
        'charges.model_id',
        eb.fn.min('charge_tags.charge_id').as('first_charge'),
        eb.fn.countAll<number>().as('requests'),
        sql<number>`sum(input_tokens + cache_read_tokens + cache_write_tokens + cache_write_1h_tokens)`.as(
          'input_tokens',
        ),
        eb.fn.sum<number>('charges.output_tokens').as('output_tokens'),
        eb.fn.sum<Micros>('charges.cost_micros').as('cost_micros'),
      ])
      // By ledger, because tags are indexed so.
      .where('charge_tags.ledger_id', 'in', (eb) => eb.selectFrom('ledgers').select('ledgers.id'))
      .where('charge_tags.created_at_ms', '>=', fromMs)
      .where('charge_tags.created_at_ms', '<', toMs)
      .groupBy([
        'charge_tags.ledger_id',
        'charge_tags.tag',
        dayNumber,
        'charges.key_id',
        'charges.model_id',
      ])
      .execute()
  );
}

function tagWithoutCharge(row: { readonly tag: string; readonly first_charge: string }): Problem {
  const id = `${row.first_charge} ${row.tag}`;
  return { table: 'charge_tags', id, column: 'charge_id', expected: 'a charge', found: null };
}
