// Verifies that the ledger agrees with the payment bookings: every finished booking has its entry,
// and every payment entry has its booking.
import { sql } from 'kysely';
import type { Db } from '../../db/schema.ts';
import { paymentEntryPrefix } from './payments.ts';

/** `found`: what the row says. `expected`: what follows from the other table. */
type Disagreement = {
  readonly table: 'payment_bookings' | 'entries';
  readonly id: string;
  readonly column: string;
  readonly expected: unknown;
  readonly found: unknown;
};

/**
 * Returns the first booking or payment entry that disagrees. A pending booking may or may not have
 * its entry.
 */
export async function compareBookings(db: Db): Promise<Disagreement | null> {
  return (await findWrongBooking(db)) ?? (await findUnmatchedEntry(db));
}

const entryId = sql<string>`${sql.lit(paymentEntryPrefix)} || booking.payment_id || ':' || booking.seq`;
const ledgerId = sql<string>`booking.account_id || ':live'`;

async function findWrongBooking(db: Db): Promise<Disagreement | null> {
  const wrong = await db
    .selectFrom('payment_bookings as booking')
    .leftJoin('entries as entry', (join) =>
      join.on('entry.id', '=', entryId).on('entry.kind', 'in', ['credit', 'debit']),
    )
    .select([
      'booking.payment_id',
      'booking.seq',
      'booking.delta_micros',
      'entry.ledger_id',
      'entry.posted_delta_micros',
    ])
    .select(ledgerId.as('booked_ledger_id'))
    .where('booking.booked_at_ms', 'is not', null)
    .where((eb) =>
      eb.or([
        eb('entry.id', 'is', null),
        eb('entry.ledger_id', '!=', ledgerId),
        eb('entry.posted_delta_micros', '!=', eb.ref('booking.delta_micros')),
      ]),
    )
    .orderBy('booking.payment_id')
    .orderBy('booking.seq')
    .executeTakeFirst();
  if (!wrong) return null;
  const row = { table: 'payment_bookings', id: `${wrong.payment_id}:${wrong.seq}` } as const;
  if (wrong.ledger_id === null)
    return { ...row, column: 'booked_at_ms', expected: null, found: 'booked, without an entry' };
  if (wrong.ledger_id !== wrong.booked_ledger_id)
    return {
      ...row,
      column: 'account_id',
      expected: wrong.ledger_id,
      found: wrong.booked_ledger_id,
    };
  return {
    ...row,
    column: 'delta_micros',
    expected: wrong.posted_delta_micros,
    found: wrong.delta_micros,
  };
}

async function findUnmatchedEntry(db: Db): Promise<Disagreement | null> {
  const unmatched = await db
    .selectFrom('entries')
    .select('id')
    // Matches the partial index of credits and debits.
    .where('key_id', 'is', null)
    .where('id', 'like', `${paymentEntryPrefix}%`)
    .where('id', 'not in', (eb) =>
      eb.selectFrom('payment_bookings as booking').select(entryId.as('id')),
    )
    .orderBy('seq')
    .executeTakeFirst();
  return unmatched
    ? {
        table: 'entries',
        id: unmatched.id,
        column: 'id',
        expected: 'a booking of the payment',
        found: null,
      }
    : null;
}
