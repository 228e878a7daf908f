// An account at a glance: its money and its last errors.
import { listUncharged, type LoggedRequest } from '../../domain/activity/queries.ts';
import type { overviewEndpoints, RecentError } from '../contract/overview.ts';
import { readKeyNames } from '../../domain/keys/manage-keys.ts';
import { ledgerIdOf } from '../../domain/ledger/commands.ts';
import { listCharges, readBalance } from '../../domain/ledger/reports/queries.ts';
import { daysLeft, readPace } from '../../domain/ledger/reports/runway.ts';
import { readSpending } from '../../domain/ledger/reports/spending.ts';
import type { ManagementContext } from '../context.ts';
import type { Handlers } from '../handlers.ts';

const errorsShown = 10;

export const overviewHandlers: Handlers<typeof overviewEndpoints> = {
  'GET /accounts/:account/overview': async ({ context, account, query }) => {
    const { accountId } = account;
    const { mode } = query;
    const { database, gateway } = context;
    const nowMs = gateway.clock.nowMs();
    const ledgerId = ledgerIdOf(accountId, mode);
    const [balance, spending, newest, pace, errors] = await Promise.all([
      readBalance(database.read, ledgerId),
      readSpending(database.read, ledgerId, nowMs),
      listCharges(database.read, { ledgerId, limit: 1, cursor: null }),
      readPace(database.read, ledgerId, nowMs),
      listUncharged(database.read, {
        accountId,
        mode,
        outcomes: ['failed'],
        limit: errorsShown,
      }),
    ]);
    return {
      balance: {
        available_micros: balance?.availableMicros ?? 0,
        held_micros: balance?.heldMicros ?? 0,
      },
      spent: { today_micros: spending?.todayMicros ?? 0, month_micros: spending?.monthMicros ?? 0 },
      runway_days: pace && daysLeft(balance?.availableMicros ?? 0, pace),
      has_charges: newest.charges.length > 0,
      recent_errors: await toRecentErrors(context, errors.rows),
    };
  },
};

async function toRecentErrors(
  { database }: ManagementContext,
  errors: readonly LoggedRequest[],
): Promise<readonly RecentError[]> {
  const names = await readKeyNames(database.read, [...new Set(errors.map(({ keyId }) => keyId))]);
  return errors.map((error) => ({
    request_id: error.requestId,
    created_at: new Date(error.createdAtMs).toISOString(),
    code: error.code ?? 'internal_error',
    path: error.path,
    model: error.modelId === '' ? null : error.modelId,
    key: { id: error.keyId, name: names.get(error.keyId) ?? '' },
  }));
}
