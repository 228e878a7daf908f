// Top-ups that owners request. A row is written before Stripe is called, so that no payment can
// arrive for an unknown top-up.
import type { Selectable } from 'kysely';
import type { Db, Tables } from '../../db/schema.ts';
import type { Micros } from '../../lib/money.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Checkout } from './stripe-client.ts';

export type TopUp = Selectable<Tables['top_ups']>;

type NewTopUp = {
  readonly accountId: string;
  readonly userId: string;
  /**
   * The caller's idempotency key: repeating it returns the same top-up. Letters, digits, `_` and
   * `-`.
   */
  readonly requestId: string;
  readonly amountMicros: Micros;
  /** Paid on top of the amount. */
  readonly feeMicros: Micros;
};

/**
 * Returns the top-up, new (`isNew`) or from an earlier call with the same request id. Returns null
 * when that call was for another amount.
 */
export async function openTopUp(
  write: Db,
  { accountId, userId, requestId, amountMicros, feeMicros }: NewTopUp,
  nowMs = systemClock.nowMs(),
): Promise<{ readonly topUp: TopUp; readonly isNew: boolean } | null> {
  const id = `${accountId}-${requestId}`;
  const row = {
    id,
    account_id: accountId,
    user_id: userId,
    amount_micros: amountMicros,
    fee_micros: feeMicros,
    state: 'open',
  } as const;
  const inserted = await write
    .insertInto('top_ups')
    .values({ ...row, created_at_ms: nowMs })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  const topUp = await findTopUp(write, accountId, id);
  return topUp?.amount_micros === amountMicros
    ? { topUp, isNew: inserted.numInsertedOrUpdatedRows !== 0n }
    : null;
}

/** Stores the checkout. Only a payment through it counts for the top-up. */
export async function setCheckout(
  write: Db,
  topUpId: string,
  { id, url }: Checkout,
): Promise<void> {
  await write
    .updateTable('top_ups')
    .set({ checkout_id: id, checkout_url: url })
    .where('id', '=', topUpId)
    .execute();
}

export async function findTopUp(db: Db, accountId: string, topUpId: string): Promise<TopUp | null> {
  const query = db
    .selectFrom('top_ups')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', '=', topUpId);
  return (await query.executeTakeFirst()) ?? null;
}
