// Accounts, their balances and their money.
import type { accountsEndpoints } from '../contract/admin/accounts.ts';
import { idempotencyConflict } from '../../canonical/errors.ts';
import { readAddresses } from '../keys.ts';
import {
  adjustmentTooLarge,
  noSuchAccount,
  readDetail,
  readName,
  toRow,
} from '../operator-accounts.ts';
import { toLine } from '../statement.ts';
import { findAccounts } from '../../domain/accounts/manage-accounts.ts';
import { searchAccounts } from '../../domain/accounts/search-accounts.ts';
import { ledgerIdOf } from '../../domain/ledger/commands.ts';
import { listStatement } from '../../domain/ledger/reports/statement.ts';
import { decodeUsageCursor, encodeUsageCursor } from '../../domain/ledger/reports/usage-cursor.ts';
import type { Database } from '../../db/database.ts';
import { micros } from '../../lib/money.ts';
import { createAccount, forgiveLosses, purgeAccount, updateAccount } from '../changes/accounts.ts';
import { adjustBalance } from '../changes/balances.ts';
import type { AdminHandlers } from './handlers.ts';
import { invalidAfter, pageRows, readAfter, toPage } from './paging.ts';

export const accountsHandlers: AdminHandlers<typeof accountsEndpoints> = {
  'GET /accounts': async ({ context, query }) => {
    const { search: text, frozen: isFrozen, limit = pageRows, after } = query;
    const cursor = readAfter(after);
    const found = await searchAccounts(context.database, { text, isFrozen, limit, cursor });
    if (!found) throw invalidAfter();
    return toPage(found.accounts.map(toRow), found.next);
  },

  'POST /accounts': ({ body, once }) => {
    const account = { name: readName(body.name), limits: readLimits(body) };
    return once.inTransaction(async ({ context, changes }) => {
      const { id } = await createAccount(changes, account);
      return readDetail(context, id);
    });
  },

  'GET /accounts/:account': ({ context, params }) => readDetail(context, params.account),

  'PATCH /accounts/:account': async ({ context, params, body, changes }) => {
    const updated = await updateAccount(changes, params.account, {
      name: body.name === undefined ? undefined : readName(body.name),
      isFrozen: body.frozen,
      retainResponses: body.retain_responses,
      limits: readLimits(body),
    });
    if (!updated) throw noSuchAccount();
    return readDetail(context, params.account);
  },

  'POST /accounts/:account/purge': async ({ params, changes }) => {
    const erased = await purgeAccount(changes, params.account);
    if (!erased) throw noSuchAccount();
    return erased;
  },

  'GET /accounts/:account/statement': async ({ context, params, query }) => {
    const { mode = 'live', limit = pageRows } = query;
    const cursor = readUsageCursor(query.after);
    await requireAccount(context.database, params.account);
    const ledgerId = ledgerIdOf(params.account, mode);
    const { lines, next } = await listStatement(context.database.read, { ledgerId, limit, cursor });
    return toPage(lines.map(toLine), next && encodeUsageCursor(next));
  },

  'POST /accounts/:account/adjustments': async ({ context, params, body, changes, once }) => {
    const { kind, mode, note, amount_micros } = body;
    const { account: accountId } = params;
    await requireAccount(context.database, accountId);
    return once.withLedger(async (entryKey) => {
      const outcome = await adjustBalance(changes, context.gateway.books.ledger, {
        kind,
        accountId,
        mode,
        amountMicros: micros(amount_micros),
        note,
        entryId: `admin:${ledgerIdOf(accountId, mode)}:${entryKey}`,
      });
      if (outcome.kind === 'unknown-account') throw noSuchAccount();
      if (outcome.kind === 'balance-too-large') throw adjustmentTooLarge(kind, outcome.leftMicros);
      // The key was used more than a day ago: its claim is gone, but the entry is not.
      if (outcome.kind === 'conflict') throw idempotencyConflict();
      const { entryId: entry_id, availableMicros: available_micros } = outcome;
      return { entry_id, account_id: accountId, kind, mode, amount_micros, note, available_micros };
    });
  },

  'POST /accounts/:account/forgive-losses': ({ params: { account: accountId }, once }) =>
    once.inTransaction(async ({ context, changes }) => {
      await requireAccount(context.database, accountId);
      return forgiveLosses(changes, accountId);
    }),
};

type LimitFields = {
  readonly requests_per_minute?: number | null;
  readonly tokens_per_minute?: number | null;
  readonly concurrent_requests?: number | null;
  readonly allowed_addresses?: readonly string[] | null;
};

/** Throws ApiError 400. */
function readLimits(fields: LimitFields) {
  return {
    requestsPerMinute: fields.requests_per_minute,
    tokensPerMinute: fields.tokens_per_minute,
    concurrentRequests: fields.concurrent_requests,
    allowedAddresses: fields.allowed_addresses && readAddresses(fields.allowed_addresses),
  };
}

/** Throws ApiError 404. */
export async function requireAccount(database: Database, accountId: string): Promise<void> {
  if ((await findAccounts(database, [accountId])).length === 0) throw noSuchAccount();
}

/** Throws ApiError 400. */
export function readUsageCursor(after: string | undefined) {
  const place = readAfter(after);
  if (place === null) return null;
  const cursor = decodeUsageCursor(place);
  if (!cursor) throw invalidAfter();
  return cursor;
}
