// What the log says of payments: Stripe is who changed the balance.
import type { Transaction } from 'kysely';
import type { Tables } from '../db/schema.ts';
import { recordChange } from './audit-log.ts';

export type BookingNote = {
  readonly accountId: string;
  readonly paymentId: string;
  readonly part: 'payment' | 'refund' | 'dispute';
  readonly deltaMicros: number;
};

const actions = { payment: 'payment.receive', refund: 'payment.refund', dispute: 'payment.dispute' } as const;

export async function recordBooking(
  transaction: Transaction<Tables>,
  { accountId, paymentId, part, deltaMicros }: BookingNote,
): Promise<void> {
  const actor = { kind: 'service', id: 'stripe', name: 'Stripe', address: null } as const;
  const change = { action: actions[part], subject: paymentId, before: null, after: { delta_micros: deltaMicros } };
  await recordChange({ write: transaction }, { actor, change, accountId });
}
