// The budgets of an account's users. The ledger compares a budget with what all keys of its user have
// spent (domain/ledger/limits.ts). A budget stays when its user leaves, because the keys stay.
import type { Db } from '../../db/schema.ts';
import type { Micros } from '../../lib/money.ts';

/** null: no budget of this kind; 0: nothing is allowed. */
export type BudgetTerms = {
  readonly daily_micros: Micros | null;
  readonly monthly_micros: Micros | null;
};

type Member = { readonly accountId: string; readonly userId: string };

export async function readBudgets(
  read: Db,
  accountId: string,
): Promise<ReadonlyMap<string, BudgetTerms>> {
  const rows = await read
    .selectFrom('member_budgets')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('user_id')
    .execute();
  return new Map(rows.map(({ user_id, account_id: _account, ...terms }) => [user_id, terms]));
}

/** Writes a budget; two nulls remove it. */
export async function writeBudget(
  write: Db,
  { accountId, userId }: Member,
  terms: BudgetTerms,
): Promise<void> {
  await write
    .deleteFrom('member_budgets')
    .where('account_id', '=', accountId)
    .where('user_id', '=', userId)
    .execute();
  if (terms.daily_micros === null && terms.monthly_micros === null) return;
  await write
    .insertInto('member_budgets')
    .values({ account_id: accountId, user_id: userId, ...terms })
    .execute();
}
