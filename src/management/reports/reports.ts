// What the service earned, cost and lost, and what needs the operator's attention.
import { isOwnKeyName } from '../../terms/own-key.ts';
import type { reportsEndpoints } from '../contract/reports.ts';
import { isPostgresUrl } from '../../db/database.ts';
import { findAccounts } from '../../domain/accounts/manage-accounts.ts';
import { readProviders } from '../../domain/activity/queries.ts';
import { accountIdOf, ledgerIdOf } from '../../domain/ledger/commands.ts';
import {
  type DailySumsQuery,
  firstChargedDay,
  sumDays,
  sumRange,
} from '../../domain/ledger/reports/daily-sums.ts';
import { readLossStandings } from '../../domain/ledger/reports/loss-budget.ts';
import { readKeyNames } from '../../domain/keys/manage-keys.ts';
import {
  report,
  type ReportGroup,
  type ReportRow,
  reportTop,
  totalOf,
} from '../../domain/ledger/reports/report.ts';
import { daysLeft, listLowBalances } from '../../domain/ledger/reports/runway.ts';
import { listMovers, sumBalances, sumCashIn } from '../../domain/ledger/reports/service-sums.ts';
import { paymentEntryPrefix } from '../../domain/billing/payments.ts';
import { routesInTrouble } from '../../gateway/calling/health.ts';
import { readLastBackup } from '../changes/backups.ts';
import { rangeBefore } from './analytics-sums.ts';
import { nextSteps } from '../changes/set-up-findings.ts';
import type { ManagementContext } from '../context.ts';
import type { Handlers } from '../handlers.ts';
import { namesOfModels } from './model-names.ts';
import { pageOf, pageByTime, type Place } from '../paging.ts';
import { checkDays } from './days.ts';
import { readPage } from './usage-pages.ts';
import { toRecord } from './usage-records.ts';
import { snakeCase } from '../../lib/snake-case.ts';
import { dayMs } from '../../lib/utc-time.ts';
import { isoTimeOf } from '../../lib/iso-time.ts';
import { sql } from 'kysely';
import type { Db } from '../../db/schema.ts';
import { zeroMicros } from '../../lib/money.ts';

const rowsMax = 100;
const moversMax = 10;
const lowBalancesMax = 20;
const lowBalanceDays = 7;

export const reportsHandlers: Handlers<typeof reportsEndpoints> = {
  'GET /operator/report': async ({ context, query: { mode, from, to, by } }) => {
    const range = checkDays(from, to);
    const db = context.database.read;
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
      rows: rows.map(({ group: id, ...row }) => ({
        id,
        name: names.get(id) ?? null,
        ...toSums(row),
      })),
      began_on: await firstChargedDay(db, { mode }),
    };
  },

  'GET /operator/movers': async ({ context, query: { mode, from, to } }) => {
    checkDays(from, to);
    const days = { beforeDay: rangeBefore(from, to).from, fromDay: from, toDay: to };
    const movers = await listMovers(context.database.read, { mode, ...days, limit: moversMax });
    return {
      data: movers.map(({ accountId: id, name, ...revenues }) => ({
        account: { id, name },
        ...snakeCase(revenues),
      })),
    };
  },

  'GET /operator/money': async ({ context: { database }, query: { from, to } }) => {
    const range = checkDays(from, to);
    const balances = await sumBalances(database.read);
    const cash = await sumCashIn(database.read, { ...range, cardPrefix: paymentEntryPrefix });
    return snakeCase({ ...balances, ...cash });
  },

  'GET /operator/attention': async ({ context }) => {
    const { database, gateway } = context;
    const nowMs = gateway.clock.nowMs();
    const lastBackupMs = await readLastBackup(database.read);
    const isPostgres = isPostgresUrl(database.url);
    const { config, hosts } = gateway;
    const { catalog } = hosts;
    const steps = nextSteps({ config, catalog, nowMs, lastBackupMs, isPostgres });
    const providers = await readProviders(database.read, { fromMs: nowMs - dayMs, toMs: nowMs });
    const low = { nowMs, withinDays: lowBalanceDays, limit: lowBalancesMax };
    const balances = await listLowBalances(database.read, low);
    return {
      set_up: {
        provider: Object.values(config.providers).some(({ enabled }) => enabled),
        ...(await readSetUp(database.read, nowMs)),
        mail: config.smtp !== null,
        backup: lastBackupMs !== null,
      },
      next_steps: steps.map(({ area, what, remedy }) => ({ area, what, remedy })),
      last_backup_at: isoTimeOf(lastBackupMs),
      routes: routesInTrouble(hosts.routing.health),
      providers: providers
        .filter(
          ({ provider: name, failures, refusals }) =>
            failures + refusals > 0 && !isOwnKeyName(name),
        )
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

  'GET /admin/v1/accounts/:account/usage': ({ context, params, query, page }) =>
    pageByTime(page, async (place) => {
      const filters = { ...query, mode: query.mode ?? 'live', ...place };
      const found = await readPage(context, params.account, filters);
      const rows = found.records.map(({ charge, keyName }) => toRecord(charge, keyName));
      return { rows, next: found.next };
    }),

  'GET /admin/v1/reports/sums': async ({ context, query, page }) => {
    const { by, mode = 'live', account, from, to } = query;
    checkDays(from, to);
    const of = account === undefined ? { mode } : { ledgerId: ledgerIdOf(account, mode) };
    const wanted = { by, of, fromDay: from, toDay: to };
    const sums = await readSums(context.database.read, wanted, oneMore(page));
    const { rows, next } = pageOf(sums, ({ group }) => group, page);
    return {
      rows: rows.map((sum) => ({
        group: sum.group,
        requests: sum.requests,
        input_tokens: sum.inputTokens,
        output_tokens: sum.outputTokens,
        images: sum.images,
        revenue_micros: sum.costMicros,
        cost_micros: sum.upstreamCostMicros,
        uncollected_micros: sum.lossMicros,
        margin_micros: sum.costMicros - sum.upstreamCostMicros,
      })),
      next,
    };
  },

  'GET /admin/v1/reports/losses': async ({ context: { database, gateway }, query, page }) => {
    const { config, clock } = gateway;
    const wanted = { mode: query.mode ?? 'live', ...oneMore(page) };
    const losses = { limits: config.limits, nowMs: clock.nowMs(), page: wanted };
    const standings = [...(await readLossStandings(database.read, losses))];
    const { rows, next } = pageOf(standings, ([ledgerId]) => accountIdOf(ledgerId), page);
    return {
      rows: rows.map(([ledgerId, standing]) => ({
        account_id: accountIdOf(ledgerId),
        provoked_loss_micros: standing.causedMicros,
        budget_micros: standing.budgetMicros,
        exceeded: standing.isExceeded,
        resets_at: isoTimeOf(standing.resetsAtMs),
      })),
      next,
    };
  },
};

async function namesOf(
  { database, gateway }: ManagementContext,
  by: ReportGroup,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  switch (by) {
    case 'account':
      return new Map(
        (await findAccounts(database.read, [...ids])).map(({ id, name }) => [id, name]),
      );
    case 'key':
      return readKeyNames(database.read, [...ids]);
    case 'model':
      return namesOfModels(gateway.hosts.catalog, ids);
    case 'day':
      return new Map();
  }
}

function toSums(row: Omit<ReportRow, 'group'>) {
  const { inputTokens: _input, outputTokens: _output, ...sums } = row;
  return snakeCase(sums);
}

/** One row more shows whether there is another page. */
function oneMore({ limit, cursor }: Place) {
  return { after: cursor, limit: limit + 1 };
}

/** Reads the daily sums, not the charges: a whole year delays no other request. */
async function readSums(
  db: Parameters<typeof sumDays>[0],
  { by, ...range }: Pick<DailySumsQuery, 'of' | 'fromDay' | 'toDay'> & { readonly by: ReportGroup },
  page: { readonly after: string | null; readonly limit: number },
) {
  if (by !== 'day') return sumRange(db, { ...range, by }, page);
  const days = await sumDays(db, { ...range, by: 'none', ids: [''] });
  return days.map((sum) => ({ ...sum, group: sum.day }));
}

/** The steps of an operator's first hour that the database shows as done: each is one row that exists. */
async function readSetUp(db: Db, nowMs: number) {
  const live = db.selectFrom('ledgers').where('mode', '=', 'live');
  const charged = live.innerJoin('charge_days', 'charge_days.ledger_id', 'ledgers.id');
  const one = sql<number>`1`.as('one');
  const [key, balance, charge, user, invitation] = await Promise.all([
    db
      .selectFrom('api_keys')
      .select(one)
      .where('mode', '=', 'live')
      .where('revoked_at_ms', 'is', null)
      .limit(1)
      .executeTakeFirst(),
    live.select(one).where('posted_micros', '>', zeroMicros).limit(1).executeTakeFirst(),
    charged.select(one).limit(1).executeTakeFirst(),
    db.selectFrom('users').select(one).offset(1).limit(1).executeTakeFirst(),
    db
      .selectFrom('invitations')
      .select(one)
      .where('expires_at_ms', '>', nowMs)
      .limit(1)
      .executeTakeFirst(),
  ]);
  return {
    live_key: key !== undefined,
    balance: balance !== undefined || charge !== undefined,
    live_request: charge !== undefined,
    invited: user !== undefined || invitation !== undefined,
  };
}
