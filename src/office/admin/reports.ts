// Serves charges, sums, losses and the audit log.
import type { reportsEndpoints } from '../contract/admin/reports.ts';
import { checkDays } from '../usage-pages.ts';
import { readPage } from '../usage-pages.ts';
import { toRecord } from '../usage-records.ts';
import { listChanges } from '../../domain/audit/audit-log.ts';
import { accountIdOf, ledgerIdOf } from '../../domain/ledger/commands.ts';
import { type DailySumsQuery, sumDays, sumRange } from '../../domain/ledger/reports/daily-sums.ts';
import { readLossStandings } from '../../domain/ledger/reports/loss-budget.ts';
import { encodeUsageCursor } from '../../domain/ledger/reports/usage-cursor.ts';
import { readUsageCursor, requireAccount } from './accounts.ts';
import type { AdminHandlers } from './handlers.ts';
import { invalidAfter, pageOf, pageRows, readAfter, toPage } from './paging.ts';
import { isoTimeOf } from '../../lib/iso-time.ts';

export const reportsHandlers: AdminHandlers<typeof reportsEndpoints> = {
  'GET /accounts/:account/usage': async ({ context, params, query }) => {
    const { limit = pageRows, after, mode = 'live', ...filters } = query;
    const cursor = readUsageCursor(after);
    await requireAccount(context.database, params.account);
    const found = await readPage(context, params.account, { ...filters, mode, limit, cursor });
    const records = found.records.map(({ charge, keyName }) => toRecord(charge, keyName));
    return toPage(records, found.next && encodeUsageCursor(found.next));
  },

  'GET /reports/sums': async ({ context, query }) => {
    const { by, mode = 'live', account, from, to } = query;
    checkDays(from, to);
    const of = account === undefined ? { mode } : { ledgerId: ledgerIdOf(account, mode) };
    const { limit = pageRows, after } = query;
    // One more shows whether there is another page.
    const wanted = { after: readAfter(after), limit: limit + 1 };
    const sums = await readSums(
      context.database.read,
      { by, of, fromDay: from, toDay: to },
      wanted,
    );
    const { data, ...page } = pageOf(sums, ({ group }) => group, query);
    const rows = data.map((sum) => ({
      group: sum.group,
      requests: sum.requests,
      input_tokens: sum.inputTokens,
      output_tokens: sum.outputTokens,
      images: sum.images,
      revenue_micros: sum.costMicros,
      cost_micros: sum.upstreamCostMicros,
      uncollected_micros: sum.lossMicros,
      margin_micros: sum.costMicros - sum.upstreamCostMicros,
    }));
    return { data: rows, ...page };
  },

  'GET /reports/losses': async ({ context: { database, gateway }, query }) => {
    const { config, clock } = gateway;
    const { mode = 'live', limit = pageRows, after } = query;
    const wanted = { mode, after: readAfter(after), limit: limit + 1 };
    const losses = { limits: config.limits, nowMs: clock.nowMs(), page: wanted };
    const standings = [...(await readLossStandings(database.read, losses))];
    const { data, ...page } = pageOf(standings, ([ledgerId]) => accountIdOf(ledgerId), query);
    const rows = data.map(([ledgerId, standing]) => ({
      account_id: accountIdOf(ledgerId),
      provoked_loss_micros: standing.provokedMicros,
      budget_micros: standing.budgetMicros,
      exceeded: standing.isExceeded,
      resets_at: isoTimeOf(standing.resetsAtMs),
    }));
    return { data: rows, ...page };
  },

  'GET /audit-log': async ({ context, query }) => {
    const { account: accountId, actor: actorId, action, subject, limit = pageRows } = query;
    const cursor = readAfter(query.after);
    const filters = { accountId, actorId, action, subject };
    const found = await listChanges(context.database, { ...filters, limit, cursor });
    if (!found) throw invalidAfter();
    return toPage(found.entries, found.next);
  },
};

type Group = 'day' | 'account' | 'key' | 'model';

/** Reads the daily sums, not the charges: a whole year delays no other request. */
async function readSums(
  db: Parameters<typeof sumDays>[0],
  { by, ...range }: Pick<DailySumsQuery, 'of' | 'fromDay' | 'toDay'> & { readonly by: Group },
  page: { readonly after: string | null; readonly limit: number },
) {
  if (by !== 'day') return sumRange(db, { ...range, by }, page);
  const days = await sumDays(db, { ...range, by: 'none', ids: [''] });
  return days.map((sum) => ({ ...sum, group: sum.day }));
}
