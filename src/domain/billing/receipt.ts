// The payment behind a credit, for its receipt.
import type { Db } from '../../db/schema.ts';
import { type Micros, micros } from '../../lib/money.ts';
import { paymentEntryPrefix } from './payments.ts';

export type CardPayment = {
  /** Stripe's id. */
  readonly id: string;
  /** Credit and card fee together. */
  readonly paidMicros: Micros;
  readonly feeMicros: Micros;
  /** What refunds and disputes have taken back from the credit so far. */
  readonly returnedMicros: Micros;
};

/** Returns null when the entry was not booked for a payment by card. */
export async function findCardPayment(db: Db, entryId: string): Promise<CardPayment | null> {
  const match = /^(.+):(\d{1,9})$/.exec(entryId.slice(paymentEntryPrefix.length));
  if (!entryId.startsWith(paymentEntryPrefix) || !match) return null;
  const [, id, seq] = match;
  const bookings = await db
    .selectFrom('payment_bookings')
    .select(['seq', 'part', 'delta_micros'])
    .where('payment_id', '=', id!)
    .execute();
  const payment = await db
    .selectFrom('payments')
    .select(['amount_micros', 'fee_micros'])
    .where('id', '=', id!)
    .executeTakeFirst();
  const isPayment = bookings.some((each) => each.seq === Number(seq) && each.part === 'payment');
  if (!isPayment || !payment || payment.amount_micros === null) return null;
  const returned = bookings
    .filter(({ part }) => part !== 'payment')
    .reduce((sum, booking) => sum - booking.delta_micros, 0);
  return {
    id: id!,
    paidMicros: payment.amount_micros,
    feeMicros: payment.fee_micros,
    returnedMicros: micros(returned),
  };
}
