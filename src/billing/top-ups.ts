// What owners ask to pay in: written down before Stripe is asked, so that no payment can come for something that nobody knows of.
import type { Selectable } from 'kysely';
import type { Database } from '../db/database.ts';
import type { TopUpsTable } from '../db/schema.ts';
import type { Micros } from '../lib/money.ts';
import { systemClock } from '../lib/clock.ts';

export type TopUp = Selectable<TopUpsTable>;

export type NewTopUp = {
  readonly accountId: string;
  readonly userId: string;
  /** The caller's own: asked for twice with the same one, there is one top-up. Letters, digits, `_` and `-`. */
  readonly requestId: string;
  readonly amountMicros: Micros;
};

/** Returns the top-up, new or as it was asked for before; null: the same request was for another amount. */
export async function openTopUp(
  database: Database,
  { accountId, userId, requestId, amountMicros }: NewTopUp,
  nowMs = systemClock.nowMs(),
): Promise<TopUp | null> {
  const id = `${accountId}-${requestId}`;
  const row = {
    id,
    account_id: accountId,
    user_id: userId,
    amount_micros: amountMicros,
    state: 'open',
    checkout_url: null,
  } as const;
  await database.write
    .insertInto('top_ups')
    .values({ ...row, created_at_ms: nowMs })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  const topUp = await findTopUp(database, accountId, id);
  return topUp?.amount_micros === amountMicros ? topUp : null;
}

export async function setCheckoutUrl(database: Database, topUpId: string, url: string): Promise<void> {
  await database.write.updateTable('top_ups').set({ checkout_url: url }).where('id', '=', topUpId).execute();
}

export async function findTopUp(database: Database, accountId: string, topUpId: string): Promise<TopUp | null> {
  const query = database.read.selectFrom('top_ups').selectAll().where('account_id', '=', accountId).where('id', '=', topUpId);
  return (await query.executeTakeFirst()) ?? null;
}
