// Accounts, as operators manage them. Commands carry an id of the caller's: one that comes twice is done, and noted, once.
import { hash } from 'node:crypto';
import {
  createAccountIn,
  raiseCacheGeneration,
  readTerms,
  updateAccount,
  type AccountChange,
} from '../../accounts/manage-accounts.ts';
import { findAccount, searchAccounts, type FoundAccount } from '../../accounts/search-accounts.ts';
import type { AuditedChanges } from '../../audit/audited-changes.ts';
import { changedFields } from '../../audit/changed-fields.ts';
import { removePurgedOf } from '../../cache/purged-accounts.ts';
import { ApiError, invalidRequest } from '../../canonical/errors.ts';
import { resolveKeyModel } from '../../catalog/resolve-key-model.ts';
import type { AccountDetail, AccountRow, operatorAccountsEndpoints } from '../../dashboard-contract/operator-accounts.ts';
import type { Database } from '../../db/database.ts';
import { dropBodies } from '../../idempotency/purge.ts';
import { ledgerIdOf } from '../../ledger/commands.ts';
import { createLedgers } from '../../ledger/create-ledgers.ts';
import { readLossStandings } from '../../ledger/loss-budget.ts';
import { findAdjustment } from '../../ledger/queries.ts';
import { micros } from '../../lib/money.ts';
import type { ServerContext } from '../context.ts';
import { audited, type Changed, type Handlers } from './handlers.ts';
import { readAddresses } from './keys.ts';
import { readStatement } from './statement.ts';

const pageRows = 50;

export const operatorAccountsHandlers: Handlers<typeof operatorAccountsEndpoints> = {
  'GET /operator/accounts': async ({ context, query }) => {
    const { search: text, frozen: isFrozen, limit = pageRows, cursor = null } = query;
    const page = await searchAccounts(context.database, { text, isFrozen, limit, cursor });
    if (!page) throw invalidRequest('cursor', '`cursor` must be the `next_cursor` of the page before, unchanged.');
    return { data: page.accounts.map(toRow), next_cursor: page.next };
  },

  'POST /operator/accounts': async ({ context: { gateway }, body, changes }) => {
    const id = `acc_${digestOf(['account', body.request_id])}`;
    const name = readName(body.name);
    const account = { id, name, priceMultiplierPpm: body.price_multiplier_ppm };
    await changes.commit(async ({ write }) => {
      const { isNew } = await createAccountIn(write, account, { createLedgers, nowMs: gateway.clock.nowMs() });
      const after = await readTerms(write, id);
      if (after.name !== name) throw new ApiError('conflict', 'This was asked for before, for an account of another name.');
      const change = { action: 'account.create', subject: id, accountId: id, before: null, after };
      return { result: id, change: isNew ? change : null };
    });
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
    const modelId = resolveKeyModel(context.gateway.catalog, body.model);
    // A price of a model that has left the catalogue can still be cleared.
    if (modelId === null && body.multiplier_ppm !== null) throw invalidRequest('model', `There is no model '${body.model}'.`);
    return changeAccount({ context, changes }, params.account, {
      modelPrice: { modelId: modelId ?? body.model, multiplierPpm: body.multiplier_ppm },
    });
  },

  'POST /operator/accounts/:account/adjustments': async ({ context, params: { account: accountId }, body, changes }) => {
    const { kind, mode, note } = body;
    const ledgerId = ledgerIdOf(accountId, mode);
    const entryId = `adjust:${ledgerId}:${body.request_id}`;
    const amountMicros = micros(body.amount_micros);
    const after = { entry_id: entryId, mode, amount_micros: amountMicros, note };
    const auditRow = changes.rowOf({ action: `account.${kind}`, subject: accountId, accountId, before: null, after });
    const outcome = await context.gateway.ledger.submit({ type: kind, entryId, ledgerId, amountMicros, note, auditRow });
    if (outcome.type === 'unknown-ledger') throw noSuchAccount();
    if (outcome.type !== 'credited' && outcome.type !== 'debited')
      throw new Error(`the ledger answered a ${kind} with ${outcome.type}`);
    // What came first under this id counts, and whoever asked for something else must know.
    const made = await findAdjustment(context.database.read, { entryId, kind });
    if (made?.amountMicros !== amountMicros || made.note !== note)
      throw new ApiError('conflict', 'This was asked for before, with another amount or reason. Nothing was booked again.');
    return audited({ entry_id: entryId, available_micros: outcome.availableMicros });
  },

  'POST /operator/accounts/:account/purge': async ({ context: { database }, params: { account: accountId }, changes }) => {
    await changes.commit(async (changing) => {
      if (!(await raiseCacheGeneration(changing, accountId))) throw noSuchAccount();
      return { result: null, change: { action: 'account.purge', subject: accountId, accountId, before: null, after: null } };
    });
    return audited(await eraseResponses(database, accountId));
  },
};

function readName(text: string): string {
  const name = text.trim();
  if (name === '') throw invalidRequest('name', 'Give the account a name.');
  return name;
}

type Changing = { readonly context: ServerContext; readonly changes: AuditedChanges };

async function changeAccount(
  { context, changes }: Changing,
  accountId: string,
  what: AccountChange,
): Promise<Changed<AccountDetail>> {
  const { database } = context;
  const terms = await changes.commit(async (changing) => {
    const result = await updateAccount(changing, accountId, what);
    if (!result) throw noSuchAccount();
    const fields = changedFields(result.before, result.after);
    return { result, change: fields && { action: 'account.update', subject: accountId, accountId, ...fields } };
  });
  if (terms.before.retain_responses && !terms.after.retain_responses) await eraseResponses(database, accountId);
  return audited(await readDetail(context, accountId));
}

/** After the generation was raised: nothing of it is served while it goes. */
async function eraseResponses(database: Database, accountId: string) {
  return {
    cached_responses_erased: await removePurgedOf(database, accountId),
    replayed_responses_erased: await dropBodies(database, accountId),
  };
}

async function readDetail({ database, gateway }: ServerContext, accountId: string): Promise<AccountDetail> {
  const account = await findAccount(database, accountId);
  if (!account) throw noSuchAccount();
  const {
    name: _name,
    frozen: _frozen,
    model_multipliers_ppm: multipliers,
    ...terms
  } = await readTerms(database.read, accountId);
  const prices = Object.entries(multipliers).map(([model, multiplier_ppm]) => ({ model, multiplier_ppm }));
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

function toRow(account: FoundAccount): AccountRow {
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
  return { posted_micros: postedMicros, held_micros: heldMicros, available_micros: postedMicros - heldMicros };
}

function noSuchAccount(): ApiError {
  return new ApiError('not_found', 'There is no such account.');
}

/** As long as the ids that are made by chance. */
function digestOf(parts: readonly string[]): string {
  return hash('sha256', parts.join(' '), 'hex').slice(0, 26);
}
