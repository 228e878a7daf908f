// The budgets of an account's members, and the keys that count in them.
import { ApiError } from '../canonical/errors.ts';
import type { budgetsEndpoints } from '../dashboard-contract/budgets.ts';
import { ledgerIdOf } from '../domain/ledger/commands.ts';
import { readMemberSpending } from '../domain/ledger/reports/spending.ts';
import { readBudgets } from '../domain/users/budgets.ts';
import { micros } from '../lib/money.ts';
import { assignKey } from '../operations/keys.ts';
import { setBudget } from '../operations/members.ts';
import { audited, type Handlers } from './handlers.ts';
import { noSuchKey, spendOf, toKey } from './keys.ts';

export const budgetsHandlers: Handlers<typeof budgetsEndpoints> = {
  'GET /accounts/:account/budgets': async ({
    context: { database, gateway },
    account: { accountId },
  }) => {
    const nowMs = gateway.clock.nowMs();
    const budgets = await readBudgets(database, accountId);
    const spending = await readMemberSpending(database.read, ledgerIdOf(accountId, 'live'), nowMs);
    const data = [...budgets].map(([user_id, terms]) => {
      return { user_id, ...terms, ...spendOf(spending.get(user_id), { createdAtMs: 0, nowMs }) };
    });
    return { data };
  },

  'PATCH /accounts/:account/members/:user/budget': async ({
    account: { accountId },
    params,
    body: { daily_micros: daily, monthly_micros: monthly },
    changes,
  }) => {
    const isSet = await setBudget(
      changes,
      { accountId, userId: params.user },
      {
        daily_micros: daily === null ? null : micros(daily),
        monthly_micros: monthly === null ? null : micros(monthly),
      },
    );
    if (!isSet) throw noSuchMember();
    return audited({ ok: true });
  },

  'PATCH /accounts/:account/keys/:key/owner': async ({
    context,
    account: { accountId },
    params: { key: keyId },
    body: { user_id: userId },
    changes,
  }) => {
    const outcome = await assignKey(changes, { keyId, accountId, userId });
    if (outcome.kind === 'unknown') throw noSuchKey();
    if (outcome.kind === 'no-such-member') throw noSuchMember();
    return audited(await toKey(context, outcome.key));
  },
};

function noSuchMember(): ApiError {
  return new ApiError('not_found', 'There is no such member in the account.');
}
