// The account of a user who signs up: created once, and credited once with the amount that was
// promised at its creation.
import type { Database } from '../../db/database.ts';
import type { Db } from '../../db/schema.ts';
import { micros, zeroMicros } from '../../lib/money.ts';
import { addMember } from './members.ts';

/** Creates an account inside the transaction. Returns its id. */
export type MakeAccount = (
  transaction: Db,
  account: { readonly name: string; readonly nowMs: number },
) => Promise<string>;

/** Credits an account's live balance. Repeating it changes nothing. */
export type CreditOnce = (credit: {
  readonly accountId: string;
  readonly amountMicros: number;
}) => Promise<void>;

type OwnAccountTerms = {
  readonly makeAccount: MakeAccount;
  /** Promised now, and paid by `payPromisedCredit`. */
  readonly creditUsd: number;
  readonly nowMs: number;
};

/**
 * Creates the user's own account; of several concurrent calls, only one does. Returns null when the
 * user has had an own account before or is a member of any.
 */
export async function giveOwnAccount(
  transaction: Db,
  user: { readonly id: string; readonly name: string },
  { makeAccount, creditUsd, nowMs }: OwnAccountTerms,
): Promise<string | null> {
  // Also locks the row.
  const free = await transaction
    .updateTable('users')
    .set({ promised_credit_micros: micros(Math.round(creditUsd * 1_000_000)) })
    .where('id', '=', user.id)
    .where('own_account_id', 'is', null)
    .where((eb) =>
      eb.not(
        eb.exists(eb.selectFrom('account_members').select('role').where('user_id', '=', user.id)),
      ),
    )
    .returning('id')
    .executeTakeFirst();
  if (!free) return null;
  const accountId = await makeAccount(transaction, { name: accountNameOf(user.name), nowMs });
  await transaction
    .updateTable('users')
    .set({ own_account_id: accountId })
    .where('id', '=', user.id)
    .execute();
  await addMember(transaction, { accountId, userId: user.id, role: 'owner' }, nowMs);
  return accountId;
}

/**
 * Pays the promised credit, unless the user must prove an address first. After an interruption, the
 * next call repeats it.
 */
export async function payPromisedCredit(
  database: Database,
  userId: string,
  {
    creditOnce,
    mustProveEmail,
  }: { readonly creditOnce: CreditOnce; readonly mustProveEmail: boolean },
): Promise<void> {
  const user = await database.read
    .selectFrom('users')
    .select(['own_account_id', 'promised_credit_micros', 'email_verified'])
    .where('id', '=', userId)
    .executeTakeFirst();
  if (!user?.own_account_id || user.promised_credit_micros === 0) return;
  if (mustProveEmail && !user.email_verified) return;
  await creditOnce({ accountId: user.own_account_id, amountMicros: user.promised_credit_micros });
  await database.write
    .updateTable('users')
    .set({ promised_credit_micros: zeroMicros })
    .where('id', '=', userId)
    .execute();
}

function accountNameOf(userName: string): string {
  return `${userName.slice(0, 80)}'s account`;
}
