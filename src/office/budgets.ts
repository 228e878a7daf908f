// The budgets of an account's members, and the keys that count in them.
import { ApiError } from '../canonical/errors.ts';
import type { Budget, budgetsEndpoints } from './contract/budgets.ts';
import type { AuditedChanges } from '../domain/audit/audited-changes.ts';
import type { KeyListing } from '../domain/keys/list-keys.ts';
import { ledgerIdOf } from '../domain/ledger/commands.ts';
import { readMemberSpending } from '../domain/ledger/reports/spending.ts';
import { readBudgets } from '../domain/users/budgets.ts';
import { micros } from '../lib/money.ts';
import { assignKey } from './changes/keys.ts';
import { setBudget } from './changes/members.ts';
import type { DashboardContext } from './context.ts';
import { audited, type Handlers } from './handlers.ts';
import { noSuchKey, spendOf, toKey } from './keys.ts';

export const budgetsHandlers: Handlers<typeof budgetsEndpoints> = {
  'GET /accounts/:account/budgets': async ({ context, account }) => ({
    data: await budgetRows(context, account.accountId),
  }),

  'PATCH /accounts/:account/members/:user/budget': async ({
    account: { accountId },
    params,
    body,
    changes,
  }) => {
    await setBudgetOrThrow(changes, { accountId, userId: params.user }, body);
    return audited({ ok: true });
  },

  'PATCH /accounts/:account/keys/:key/owner': async ({
    context,
    account: { accountId },
    params: { key: keyId },
    body: { user_id: userId },
    changes,
  }) => {
    const key = await assignKeyOrThrow(changes, { keyId, accountId, userId });
    return audited(await toKey(context, key));
  },
};

/** The budgets of an account, and what their live keys have spent. */
export async function budgetRows(
  { database, gateway }: DashboardContext,
  accountId: string,
): Promise<readonly Budget[]> {
  const nowMs = gateway.clock.nowMs();
  const budgets = await readBudgets(database, accountId);
  const spending = await readMemberSpending(database.read, ledgerIdOf(accountId, 'live'), nowMs);
  return [...budgets].map(([user_id, terms]) => {
    return { user_id, ...terms, ...spendOf(spending.get(user_id), { createdAtMs: 0, nowMs }) };
  });
}

type TermFields = {
  readonly daily_micros?: number | null;
  readonly monthly_micros?: number | null;
};

/** Throws ApiError 404. */
export async function setBudgetOrThrow(
  changes: AuditedChanges,
  member: { readonly accountId: string; readonly userId: string },
  { daily_micros: daily, monthly_micros: monthly }: TermFields,
): Promise<void> {
  const isSet = await setBudget(changes, member, {
    ...(daily !== undefined && { daily_micros: daily === null ? null : micros(daily) }),
    ...(monthly !== undefined && { monthly_micros: monthly === null ? null : micros(monthly) }),
  });
  if (!isSet) throw noSuchMember();
}

/** Returns the key. Throws ApiError 404. */
export async function assignKeyOrThrow(
  ...assignment: Parameters<typeof assignKey>
): Promise<KeyListing> {
  const outcome = await assignKey(...assignment);
  if (outcome.kind === 'unknown') throw noSuchKey();
  if (outcome.kind === 'no-such-member') throw noSuchMember();
  return outcome.key;
}

function noSuchMember(): ApiError {
  return new ApiError('not_found', 'There is no such member in the account.');
}
