// The operator's home: the report of a range of days, and what needs attention.
import type { operatorHomeEndpoints } from './contract/operator-home.ts';
import { isPostgresUrl } from '../db/database.ts';
import { findAccounts } from '../domain/accounts/manage-accounts.ts';
import { readProviders } from '../domain/activity/queries.ts';
import { readKeyNames } from '../domain/keys/manage-keys.ts';
import {
  report,
  type ReportGroup,
  type ReportRow,
  reportTop,
  totalOf,
} from '../domain/ledger/reports/report.ts';
import { daysLeft, listLowBalances } from '../domain/ledger/reports/runway.ts';
import { readLastBackup } from './changes/backups.ts';
import { nextSteps } from './changes/set-up-findings.ts';
import type { DashboardContext } from './context.ts';
import type { Handlers } from './handlers.ts';
import { namesOfModels } from './model-names.ts';
import { checkDays, startOfDay } from './usage-pages.ts';
import { dayMs } from '../lib/utc-time.ts';
import { isoTimeOf } from '../lib/iso-time.ts';

const rowsMax = 100;
const lowBalancesMax = 20;
const lowBalanceDays = 7;

export const operatorHomeHandlers: Handlers<typeof operatorHomeEndpoints> = {
  'GET /operator/report': async ({ context, query: { mode, from, to, by } }) => {
    checkDays(from, to);
    const db = context.database.read;
    const range = { fromMs: startOfDay('from', from), toMs: startOfDay('to', to) + dayMs };
    const days = await report(db, { by: 'day', mode, ...range });
    const rows =
      by === 'day' ? days.toReversed() : await reportTop(db, { by, mode, ...range }, rowsMax);
    const names = await namesOf(
      context,
      by,
      rows.map(({ group }) => group),
    );
    return {
      totals: toSums(totalOf(days)),
      rows: rows.map((row) => ({
        id: row.group,
        name: names.get(row.group) ?? null,
        ...toSums(row),
      })),
    };
  },

  'GET /operator/attention': async ({ context }) => {
    const { database, gateway } = context;
    const nowMs = gateway.clock.nowMs();
    const lastBackupMs = await readLastBackup(database);
    const isPostgres = isPostgresUrl(database.url);
    const steps = nextSteps({ config: gateway.config, nowMs, lastBackupMs, isPostgres });
    const providers = await readProviders(database.read, { fromMs: nowMs - dayMs, toMs: nowMs });
    const low = { nowMs, withinDays: lowBalanceDays, limit: lowBalancesMax };
    const balances = await listLowBalances(database.read, low);
    return {
      next_steps: steps.map(({ area, what, remedy }) => ({ area, what, remedy })),
      last_backup_at: isoTimeOf(lastBackupMs),
      routes: failingRoutes(context),
      providers: providers
        .filter(({ failures, refusals }) => failures + refusals > 0)
        .map(({ provider, calls, failures, refusals }) => ({
          name: provider,
          calls,
          failures: failures + refusals,
        })),
      low_balances: balances.map(({ accountId, name, availableMicros, pace }) => ({
        account: { id: accountId, name },
        available_micros: availableMicros,
        daily_micros: pace.dailyMicros,
        days_left: daysLeft(availableMicros, pace),
      })),
    };
  },
};

function failingRoutes({ gateway }: DashboardContext) {
  return gateway.hosts.routing.health
    .states()
    .flatMap(({ provider, upstreamModel: model, state, reason, ejectedUntilMs }) =>
      state === 'in-use'
        ? []
        : [
            {
              provider,
              model,
              state,
              reason,
              until: isoTimeOf(ejectedUntilMs),
            },
          ],
    );
}

async function namesOf(
  { database, gateway }: DashboardContext,
  by: ReportGroup,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  switch (by) {
    case 'account':
      return new Map((await findAccounts(database, [...ids])).map(({ id, name }) => [id, name]));
    case 'key':
      return readKeyNames(database, [...ids]);
    case 'model':
      return namesOfModels(gateway.hosts.catalog, ids);
    case 'day':
      return new Map();
  }
}

function toSums(row: Omit<ReportRow, 'group'>) {
  return {
    requests: row.requests,
    revenue_micros: row.revenueMicros,
    cost_micros: row.costMicros,
    uncollected_micros: row.uncollectedMicros,
    failed_micros: row.failedMicros,
    margin_micros: row.marginMicros,
  };
}
