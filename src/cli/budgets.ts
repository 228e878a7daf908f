// `tollgate budgets …`: the budgets of an account's members.
import type { Db } from '../db/schema.ts';
import { ledgerIdOf } from '../domain/ledger/commands.ts';
import { readMemberSpending } from '../domain/ledger/reports/spending.ts';
import { type BudgetTerms, readBudgets } from '../domain/users/budgets.ts';
import { listMembers } from '../domain/users/members.ts';
import { normalizeEmail } from '../domain/users/user-records.ts';
import { systemClock } from '../lib/clock.ts';
import { type Micros, zeroMicros } from '../lib/money.ts';
import { requireAccount } from '../management/changes/accounts.ts';
import { noSuchMember, setBudget } from '../management/changes/members.ts';
import type { Installation } from './installation.ts';
import { CommandFailed, dollars, tableOf, type Output } from './output.ts';
import { orNull, type OrNone } from './parse.ts';

export async function listBudgetsCommand(
  { database }: Installation,
  accountId: string,
): Promise<Output> {
  const budgets = await listBudgets(database.read, accountId);
  const table = tableOf(budgets, {
    USER: (budget) => budget.user_id,
    NAME: ({ name }) => name,
    'A DAY': (budget) => budgetText(budget.daily_micros),
    'SPENT TODAY': (budget) => dollars(budget.spent_today_micros),
    'A MONTH': (budget) => budgetText(budget.monthly_micros),
    'SPENT THIS MONTH': (budget) => dollars(budget.spent_this_month_micros),
  });
  return [budgets, table];
}

/** The budgets of an account, and what the live keys of their users have spent. */
async function listBudgets(read: Db, accountId: string) {
  await requireAccount(read, accountId);
  const budgets = await readBudgets(read, accountId);
  const members = await listMembers(read, accountId);
  const spending = await readMemberSpending(
    read,
    ledgerIdOf(accountId, 'live'),
    systemClock.nowMs(),
  );
  return [...budgets].map(([userId, terms]) => ({
    user_id: userId,
    // A user who has left the account still owns keys, so the budget still counts.
    name: members.find((member) => member.userId === userId)?.name ?? 'no longer a member',
    ...terms,
    spent_today_micros: spending.get(userId)?.dayMicros ?? zeroMicros,
    spent_this_month_micros: spending.get(userId)?.monthMicros ?? zeroMicros,
  }));
}

type BudgetOptions = {
  readonly dailyUsd?: OrNone<Micros>;
  readonly monthlyUsd?: OrNone<Micros>;
};

export async function setBudgetCommand(
  installation: Installation,
  accountId: string,
  member: string,
  { dailyUsd, monthlyUsd }: BudgetOptions,
): Promise<Output> {
  if (dailyUsd === undefined && monthlyUsd === undefined)
    throw new CommandFailed(
      'give --daily-usd, --monthly-usd or both; "tollgate budgets remove" removes a budget',
    );
  const terms = { daily_micros: orNull(dailyUsd), monthly_micros: orNull(monthlyUsd) };
  return change(installation, { accountId, member }, terms);
}

export async function removeBudgetCommand(
  installation: Installation,
  accountId: string,
  member: string,
): Promise<Output> {
  return change(installation, { accountId, member }, { daily_micros: null, monthly_micros: null });
}

async function change(
  { database, changes }: Installation,
  { accountId, member }: { readonly accountId: string; readonly member: string },
  terms: Partial<BudgetTerms>,
): Promise<Output> {
  await requireAccount(database.read, accountId);
  const userId = await findMember(database.read, accountId, member);
  await setBudget(changes, { accountId, userId }, terms);
  const { daily_micros, monthly_micros } = (await readBudgets(database.read, accountId)).get(
    userId,
  ) ?? { daily_micros: null, monthly_micros: null };
  return [
    { account_id: accountId, user_id: userId, daily_micros, monthly_micros },
    `${member} may spend: a day ${budgetText(daily_micros)}, a month ${budgetText(monthly_micros)}. Running gateways apply the change within seconds.`,
  ];
}

/** Returns the user id of a member who is named by e-mail address; any other text is an id. */
export async function findMember(read: Db, accountId: string, text: string): Promise<string> {
  if (!text.includes('@')) return text;
  const email = normalizeEmail(text);
  const members = await listMembers(read, accountId);
  const found = members.find((member) => member.email === email);
  if (!found) throw noSuchMember();
  return found.userId;
}

function budgetText(amount: Micros | null): string {
  return amount === null ? 'without limit' : dollars(amount);
}
