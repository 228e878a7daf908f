// The account of somebody who signs up: made once, and credited once, with what was promised when it was made.
import type { Kysely } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { addMember } from './members.ts';

/** Makes an account inside the transaction; returns its id. */
export type MakeAccount = (
  transaction: Kysely<Tables>,
  account: { readonly name: string; readonly nowMs: number },
) => Promise<string>;

/** Credits an account's live balance; a second time changes nothing. */
export type CreditOnce = (credit: { readonly accountId: string; readonly amountMicros: number }) => Promise<void>;

/** Of several at once, one makes the account. Whoever signed up before, or belongs to an account, gets none. */
export async function giveOwnAccount(
  transaction: Kysely<Tables>,
  user: { readonly id: string; readonly name: string },
  {
    makeAccount,
    promisedMicros,
    nowMs,
  }: { readonly makeAccount: MakeAccount; readonly promisedMicros: number; readonly nowMs: number },
): Promise<string | null> {
  // Also locks the row.
  const free = await transaction
    .updateTable('users')
    .set({ promised_credit_micros: promisedMicros })
    .where('id', '=', user.id)
    .where('own_account_id', 'is', null)
    .where((eb) => eb.not(eb.exists(eb.selectFrom('account_members').select('role').where('user_id', '=', user.id))))
    .returning('id')
    .executeTakeFirst();
  if (!free) return null;
  const accountId = await makeAccount(transaction, { name: accountNameOf(user.name), nowMs });
  await transaction.updateTable('users').set({ own_account_id: accountId }).where('id', '=', user.id).execute();
  await addMember(transaction, { accountId, userId: user.id, role: 'owner' }, nowMs);
  return accountId;
}

/** Pays what was promised, unless the user has an address to prove first. Interrupted, it is done again by the next call. */
export async function payPromisedCredit(
  database: Database,
  userId: string,
  { creditOnce, mustProveEmail }: { readonly creditOnce: CreditOnce; readonly mustProveEmail: boolean },
): Promise<void> {
  const user = await database.read
    .selectFrom('users')
    .select(['own_account_id', 'promised_credit_micros', 'email_verified'])
    .where('id', '=', userId)
    .executeTakeFirst();
  if (!user?.own_account_id || user.promised_credit_micros === 0) return;
  if (mustProveEmail && !user.email_verified) return;
  await creditOnce({ accountId: user.own_account_id, amountMicros: user.promised_credit_micros });
  await database.write.updateTable('users').set({ promised_credit_micros: 0 }).where('id', '=', userId).execute();
}

function accountNameOf(userName: string): string {
  return `${userName.slice(0, 80)}'s account`;
}
