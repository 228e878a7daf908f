// What owners ask to pay in: written down before Stripe is asked, so that no payment can come for something that nobody knows of.
import type { Kysely, Selectable } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Tables, TopUpsTable } from '../db/schema.ts';
import type { Micros } from '../lib/money.ts';
import { systemClock } from '../lib/clock.ts';
import type { Checkout } from './stripe-client.ts';

export type TopUp = Selectable<TopUpsTable>;

export type NewTopUp = {
  readonly accountId: string;
  readonly userId: string;
  /** The caller's own: asked for twice with the same one, there is one top-up. Letters, digits, `_` and `-`. */
  readonly requestId: string;
  readonly amountMicros: Micros;
};

/** Returns the top-up, new (`isNew`) or as it was asked for before; null: the same request was for another amount. */
export async function openTopUp(
  database: Database,
  { accountId, userId, requestId, amountMicros }: NewTopUp,
  nowMs = systemClock.nowMs(),
): Promise<{ readonly topUp: TopUp; readonly isNew: boolean } | null> {
  const id = `${accountId}-${requestId}`;
  const row = {
    id,
    account_id: accountId,
    user_id: userId,
    amount_micros: amountMicros,
    state: 'open',
    checkout_id: null,
    checkout_url: null,
  } as const;
  const inserted = await database.write
    .insertInto('top_ups')
    .values({ ...row, created_at_ms: nowMs })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  const topUp = await findTopUp(database.write, accountId, id);
  return topUp?.amount_micros === amountMicros ? { topUp, isNew: inserted.numInsertedOrUpdatedRows !== 0n } : null;
}

/** Only what is paid by this checkout is the top-up's. */
export async function setCheckout(database: Database, topUpId: string, { id, url }: Checkout): Promise<void> {
  await database.write.updateTable('top_ups').set({ checkout_id: id, checkout_url: url }).where('id', '=', topUpId).execute();
}

export async function findTopUp(db: Kysely<Tables>, accountId: string, topUpId: string): Promise<TopUp | null> {
  const query = db.selectFrom('top_ups').selectAll().where('account_id', '=', accountId).where('id', '=', topUpId);
  return (await query.executeTakeFirst()) ?? null;
}
