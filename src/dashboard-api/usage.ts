// Charged requests and their cost: in pages, and one in detail.
import { listRecentErrors, sumActivity } from '../domain/activity/queries.ts';
import { ApiError, invalidRequest } from '../canonical/errors.ts';
import type { UsageDetail, usageEndpoints } from '../dashboard-contract/usage.ts';
import { readKeyNames } from '../domain/keys/manage-keys.ts';
import { ledgerIdOf } from '../domain/ledger/commands.ts';
import { listCharges, readPriceTerms } from '../domain/ledger/reports/queries.ts';
import { encodeUsageCursor } from '../domain/ledger/reports/usage-cursor.ts';
import { readCursor } from '../server/usage-query.ts';
import type { DashboardContext } from './context.ts';
import type { Handlers } from './handlers.ts';
import { toCacheDays, toFailedRequest } from './uncharged.ts';
import { dayMs, readPage, startOfDay } from './usage-pages.ts';
import { toDetail, toRecord } from './usage-records.ts';

const pageRows = 50;

export const usageHandlers: Handlers<typeof usageEndpoints> = {
  'GET /accounts/:account/failed-requests': async ({ context, account, query }) => {
    const errors = await listRecentErrors(context.database.read, {
      accountId: account.accountId,
      mode: query.mode,
    });
    const names = await readKeyNames(context.database, [
      ...new Set(errors.map(({ keyId }) => keyId)),
    ]);
    return { data: errors.map((error) => toFailedRequest(error, names.get(error.keyId) ?? '')) };
  },
  'GET /accounts/:account/cache-days': async ({ context, account, query: { mode, from, to } }) => {
    checkDays(from, to);
    const query = {
      accountId: account.accountId,
      mode,
      fromDay: from,
      toDay: to,
      by: 'day',
    } as const;
    return { data: toCacheDays(await sumActivity(context.database.read, query)) };
  },
  'GET /accounts/:account/usage': async ({ context, account, query }) => {
    const { limit = pageRows, cursor, ...filters } = query;
    const page = await readPage(context, account.accountId, {
      ...filters,
      limit,
      cursor: readCursor(cursor),
    });
    return {
      data: page.records.map(({ charge, keyName }) => toRecord(charge, keyName)),
      next_cursor: page.next && encodeUsageCursor(page.next),
    };
  },
  'GET /accounts/:account/usage/:request': async ({ context, account, params }) => {
    const found = await findCharge(context, account.accountId, params.request);
    if (!found)
      throw new ApiError('not_found', 'There is no charged request with this id in this account.');
    return found;
  },
};

async function findCharge(
  { database }: DashboardContext,
  accountId: string,
  requestId: string,
): Promise<UsageDetail | null> {
  for (const mode of ['live', 'test'] as const) {
    const query = {
      ledgerId: ledgerIdOf(accountId, mode),
      limit: 1,
      cursor: null,
      holdId: requestId,
    };
    const [charge] = (await listCharges(database.read, query)).charges;
    if (!charge) continue;
    const [names, terms] = await Promise.all([
      readKeyNames(database, [charge.keyId]),
      charge.priceId === null ? null : readPriceTerms(database.read, charge.priceId),
    ]);
    return toDetail(charge, { keyName: names.get(charge.keyId) ?? '', terms });
  }
  return null;
}

const daysMax = 366;

/** Throws ApiError `invalid_request`. */
function checkDays(from: string, to: string): void {
  const days = (startOfDay('to', to) - startOfDay('from', from)) / dayMs + 1;
  if (days < 1 || days > daysMax)
    throw invalidRequest('to', `\`to\` must be from 0 to ${daysMax - 1} days after \`from\`.`);
}
