// Account management for operators. Commands carry an id from the client: a repeated one runs and
// is audited only once.
import { hash } from 'node:crypto';
import { readTerms, type AccountChange } from '../domain/accounts/manage-accounts.ts';
import {
  findAccount,
  searchAccounts,
  type FoundAccount,
} from '../domain/accounts/search-accounts.ts';
import type { AuditedChanges } from '../domain/audit/audited-changes.ts';
import { ApiError, invalidCursor, invalidRequest } from '../canonical/errors.ts';
import { resolveKeyModel } from '../domain/catalog/resolve-key-model.ts';
import type {
  AccountDetail,
  AccountRow,
  operatorAccountsEndpoints,
} from './contract/operator-accounts.ts';
import { ledgerIdOf } from '../domain/ledger/commands.ts';
import { readLossStandings } from '../domain/ledger/reports/loss-budget.ts';
import { cleanName } from '../lib/clean-name.ts';
import { type Micros, micros } from '../lib/money.ts';
import { createAccount, purgeAccount, updateAccount } from './changes/accounts.ts';
import { adjustBalance, balanceTooLarge } from './changes/balances.ts';
import type { DashboardContext } from './context.ts';
import { audited, type Changed, type Handlers } from './handlers.ts';
import { readAddresses } from './keys.ts';
import { readStatement } from './statement.ts';

const pageRows = 50;

export const operatorAccountsHandlers: Handlers<typeof operatorAccountsEndpoints> = {
  'GET /operator/accounts': async ({ context, query }) => {
    const { search: text, frozen: isFrozen, limit = pageRows, cursor = null } = query;
    const page = await searchAccounts(context.database, { text, isFrozen, limit, cursor });
    if (!page) throw invalidCursor();
    return { data: page.accounts.map(toRow), next_cursor: page.next };
  },

  'POST /operator/accounts': async ({ body, changes }) => {
    const id = `acc_${digestOf(['account', body.request_id])}`;
    const name = readName(body.name);
    const { terms } = await createAccount(changes, {
      id,
      name,
      priceMultiplierPpm: body.price_multiplier_ppm,
    });
    if (terms.name !== name)
      throw new ApiError(
        'conflict',
        'This request id was used before for an account with another name.',
      );
    return audited({ id });
  },

  'GET /operator/accounts/:account': ({ context, params }) => readDetail(context, params.account),

  'GET /operator/accounts/:account/statement': async ({ context, params, query }) => {
    if (!(await findAccount(context.database, params.account))) throw noSuchAccount();
    return readStatement(context, params.account, query);
  },

  'PATCH /operator/accounts/:account': ({ context, params, body, changes }) =>
    changeAccount({ context, changes }, params.account, {
      name: body.name === undefined ? undefined : readName(body.name),
      isFrozen: body.frozen,
      priceMultiplierPpm: body.price_multiplier_ppm,
      retainResponses: body.retain_responses,
      limits: {
        requestsPerMinute: body.requests_per_minute,
        tokensPerMinute: body.tokens_per_minute,
        concurrentRequests: body.concurrent_requests,
        allowedAddresses: body.allowed_addresses && readAddresses(body.allowed_addresses),
      },
    }),

  'PATCH /operator/accounts/:account/model-prices': ({ context, params, body, changes }) => {
    const modelId = resolveKeyModel(context.gateway.hosts.catalog, body.model);
    // A price of a model that has left the catalogue can still be cleared.
    if (modelId === null && body.multiplier_ppm !== null)
      throw invalidRequest('model', `There is no model '${body.model}'.`);
    return changeAccount({ context, changes }, params.account, {
      modelPrice: { modelId: modelId ?? body.model, multiplierPpm: body.multiplier_ppm },
    });
  },

  'POST /operator/accounts/:account/adjustments': async ({
    context,
    params: { account: accountId },
    body,
    changes,
  }) => {
    const { kind, mode, note } = body;
    const entryId = `adjust:${ledgerIdOf(accountId, mode)}:${body.request_id}`;
    const adjustment = {
      kind,
      accountId,
      mode,
      amountMicros: micros(body.amount_micros),
      note,
      entryId,
    };
    const outcome = await adjustBalance(changes, context.gateway.books.ledger, adjustment);
    if (outcome.kind === 'unknown-account') throw noSuchAccount();
    if (outcome.kind === 'balance-too-large') throw adjustmentTooLarge(kind, outcome.leftMicros);
    // The first adjustment under this id counts; a different one is refused.
    if (outcome.kind === 'conflict')
      throw new ApiError(
        'conflict',
        'This request id was used before with another amount or note. Nothing was booked.',
      );
    return audited({ entry_id: entryId, available_micros: outcome.availableMicros });
  },

  'POST /operator/accounts/:account/purge': async ({ params, changes }) => {
    const erased = await purgeAccount(changes, params.account);
    if (!erased) throw noSuchAccount();
    return audited(erased);
  },
};

/** The 409 for an adjustment beyond the largest balance. */
export function adjustmentTooLarge(kind: 'credit' | 'debit', leftMicros: Micros): ApiError {
  return new ApiError('conflict', balanceTooLarge(kind, leftMicros), { param: 'amount_micros' });
}

export function readName(text: string): string {
  const name = cleanName(text);
  if (name === '') throw invalidRequest('name', 'Give the account a name.');
  return name;
}

type AuditedCall = { readonly context: DashboardContext; readonly changes: AuditedChanges };

async function changeAccount(
  { context, changes }: AuditedCall,
  accountId: string,
  what: AccountChange,
): Promise<Changed<AccountDetail>> {
  if (!(await updateAccount(changes, accountId, what))) throw noSuchAccount();
  return audited(await readDetail(context, accountId));
}

/** Throws ApiError 404. */
export async function readDetail(
  { database, gateway }: Pick<DashboardContext, 'database' | 'gateway'>,
  accountId: string,
): Promise<AccountDetail> {
  const account = await findAccount(database, accountId);
  if (!account) throw noSuchAccount();
  const {
    name: _name,
    frozen: _frozen,
    model_multipliers_ppm: multipliers,
    ...terms
  } = await readTerms(database.read, accountId);
  const prices = Object.entries(multipliers).map(([model, multiplier_ppm]) => ({
    model,
    multiplier_ppm,
  }));
  const ledgerId = ledgerIdOf(accountId, 'live');
  const losses = { ledgerId, limits: gateway.config.limits, nowMs: gateway.clock.nowMs() };
  const standing = (await readLossStandings(database.read, losses)).get(ledgerId);
  return {
    ...toRow(account),
    ...terms,
    model_prices: prices.toSorted((one, other) => one.model.localeCompare(other.model)),
    provoked_loss_micros: standing?.provokedMicros ?? 0,
    loss_budget_exceeded: standing?.isExceeded ?? false,
  };
}

export function toRow(account: FoundAccount): AccountRow {
  return {
    id: account.id,
    name: account.name,
    created_at: new Date(account.createdAtMs).toISOString(),
    frozen: account.isFrozen,
    price_multiplier_ppm: account.priceMultiplierPpm,
    live: balanceOf(account.live),
    test: balanceOf(account.test),
  };
}

function balanceOf({ postedMicros, heldMicros }: FoundAccount['live']) {
  return {
    posted_micros: postedMicros,
    held_micros: heldMicros,
    available_micros: postedMicros - heldMicros,
  };
}

export function noSuchAccount(): ApiError {
  return new ApiError('not_found', 'There is no such account.');
}

/** Returns a digest as long as our random ids. */
function digestOf(parts: readonly string[]): string {
  return hash('sha256', parts.join(' '), 'hex').slice(0, 26);
}
