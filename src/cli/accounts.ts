// `tollgate accounts …`
import {
  type AccountChange,
  createAccountIn,
  listAccounts,
  raiseCacheGeneration,
  readTerms,
  updateAccount,
} from '../accounts/manage-accounts.ts';
import type { Change } from '../audit/audit-log.ts';
import { changedFields } from '../audit/changed-fields.ts';
import { removePurgedOf } from '../cache/purged-accounts.ts';
import { loadCatalog } from '../catalog/load-catalog.ts';
import type { Config } from '../config/schema.ts';
import type { Database } from '../db/database.ts';
import { dropBodies } from '../idempotency/purge.ts';
import { type Micros, zeroMicros } from '../lib/money.ts';
import { systemClock } from '../lib/clock.ts';
import { newIdWithPrefix } from '../lib/ids.ts';
import { ledgerIdOf } from '../ledger/commands.ts';
import { createLedgers } from '../ledger/create-ledgers.ts';
import { readLossStandings } from '../ledger/loss-budget.ts';
import { forgiveLosses } from '../ledger/loss-days.ts';
import { openLedgerInProcess } from '../ledger/open-ledger.ts';
import { changesBy } from './audit.ts';
import { resolveModelId, withInstallation, type Installation } from './installation.ts';
import { CommandFailed, dollars, formatTable, printResult, type JsonOption } from './output.ts';
import { none, type OrNone } from './parse.ts';
import { requestLimitsOf, type RequestLimitOptions } from './request-limits.ts';

type NewAccount = JsonOption &
  RequestLimitOptions & { readonly name: string; readonly creditUsd?: Micros; readonly priceMultiplier?: number };

export async function createAccountCommand({ name, creditUsd, priceMultiplier, ...options }: NewAccount): Promise<void> {
  await withInstallation(async (installation) => {
    const account = { name, priceMultiplierPpm: priceMultiplier, limits: requestLimitsOf(options) };
    const id = await changesBy('accounts create', installation.database).commit(async ({ write }) => {
      const made = await createAccountIn(write, account, { createLedgers, nowMs: systemClock.nowMs() });
      return {
        result: made.id,
        change: changeOfAccount('create', made.id, { before: null, after: await readTerms(write, made.id) }),
      };
    });
    if (creditUsd !== undefined) {
      await adjust(installation, { type: 'credit', accountId: id, mode: 'live', amountMicros: creditUsd, note: 'first credit' });
    }
    printResult(options, { id, name }, `Account ${id} (${name}). Make a key: tollgate keys create --account ${id} --mode live`);
  });
}

export async function listAccountsCommand(options: JsonOption): Promise<void> {
  await withInstallation(async ({ config, database }) => {
    const standings = await readLossStandings(database.read, { limits: config.limits, nowMs: systemClock.nowMs() });
    const accounts = (await listAccounts(database)).map((account) => {
      const { provokedMicros = zeroMicros, isExceeded = false } = standings.get(ledgerIdOf(account.id, 'live')) ?? {};
      return { ...account, provoked_loss_micros: provokedMicros, loss_budget_exceeded: isExceeded };
    });
    const rows = accounts.map((account) => [
      account.id,
      account.name,
      dollars(account.live_available_micros),
      dollars(account.test_available_micros),
      dollars(account.provoked_loss_micros) + (account.loss_budget_exceeded ? ' (refused)' : ''),
      account.created_at,
    ]);
    printResult(options, accounts, formatTable(['ACCOUNT', 'NAME', 'LIVE', 'TEST', 'PROVOKED LOSSES', 'CREATED'], rows));
  });
}

type AccountOptions = JsonOption &
  RequestLimitOptions & {
    readonly priceMultiplier?: OrNone<number>;
    readonly model?: string;
    readonly frozen?: 'yes' | 'no';
    readonly retainResponses?: 'on' | 'off';
    readonly forgiveLosses?: true;
  };

export async function updateAccountCommand(accountId: string, options: AccountOptions): Promise<void> {
  await withInstallation(async ({ config, database }) => {
    const change = changeOf(config, options);
    await changesBy('accounts update', database).commit(async (changing) => {
      const terms = await updateAccount(changing, accountId, change);
      if (!terms) throw noAccount(accountId);
      const fields = changedFields(terms.before, terms.after);
      return { result: null, change: fields && changeOfAccount('update', accountId, fields) };
    });
    const forgiven = options.forgiveLosses ? await forgive(database, accountId) : {};
    const erased = options.retainResponses === 'off' ? await eraseResponses(database, accountId) : {};
    const done = `Account ${accountId} is changed; a running gateway follows within seconds.`;
    printResult(options, { id: accountId, ...erased, ...forgiven }, done);
  });
}

async function forgive(database: Database, accountId: string) {
  return changesBy('accounts update', database).commit(async ({ write }) => {
    const after = { forgiven_loss_micros: await forgiveLosses(write, accountId) };
    return { result: after, change: changeOfAccount('forgive-losses', accountId, { before: null, after }) };
  });
}

export async function purgeAccountCommand(accountId: string, options: JsonOption): Promise<void> {
  await withInstallation(async ({ database }) => {
    await changesBy('accounts purge', database).commit(async (changing) => {
      if (!(await raiseCacheGeneration(changing, accountId))) throw noAccount(accountId);
      return { result: null, change: changeOfAccount('purge', accountId, { before: null, after: null }) };
    });
    const erased = await eraseResponses(database, accountId);
    const done =
      `${erased.cached_responses_erased} cached answers and ${erased.replayed_responses_erased} answers kept for replay are erased. ` +
      'No gateway serves them any more: one that runs follows within seconds.';
    printResult(options, { id: accountId, ...erased }, done);
  });
}

/** After the generation was raised: nothing of it is served while it goes. */
async function eraseResponses(database: Database, accountId: string) {
  return {
    cached_responses_erased: await removePurgedOf(database, accountId),
    replayed_responses_erased: await dropBodies(database, accountId),
  };
}

function changeOf(config: Config, options: AccountOptions): AccountChange {
  const { priceMultiplier, model, frozen, retainResponses } = options;
  if (model !== undefined && priceMultiplier === undefined) throw new CommandFailed('--model needs --price-multiplier beside it');
  if (model === undefined && priceMultiplier === none) {
    throw new CommandFailed('--price-multiplier none clears the price of a --model; for all models give 1');
  }
  return {
    limits: requestLimitsOf(options),
    ...(frozen !== undefined && { isFrozen: frozen === 'yes' }),
    ...(retainResponses !== undefined && { retainResponses: retainResponses === 'on' }),
    ...(priceMultiplier !== undefined &&
      priceMultiplier !== none &&
      model === undefined && { priceMultiplierPpm: priceMultiplier }),
    ...(priceMultiplier !== undefined &&
      model !== undefined && {
        modelPrice: {
          modelId: resolveModelId(loadCatalog(config), model),
          multiplierPpm: priceMultiplier === none ? null : priceMultiplier,
        },
      }),
  };
}

type AdjustmentOptions = JsonOption & { readonly usd: Micros; readonly test?: true; readonly note?: string };

export async function creditAccountCommand(accountId: string, options: AdjustmentOptions): Promise<void> {
  await adjustAccount('credit', accountId, options);
}

export async function debitAccountCommand(accountId: string, options: AdjustmentOptions): Promise<void> {
  await adjustAccount('debit', accountId, options);
}

async function adjustAccount(
  type: 'credit' | 'debit',
  accountId: string,
  { usd, test, note, ...options }: AdjustmentOptions,
): Promise<void> {
  await withInstallation(async (installation) => {
    const mode = test ? 'test' : 'live';
    const adjustment = { type, accountId, mode, amountMicros: usd, note: note ?? 'by command line' } as const;
    const { entryId, availableMicros } = await adjust(installation, adjustment);
    const done = type === 'credit' ? 'credited' : 'debited';
    printResult(
      options,
      { id: entryId, account_id: accountId, mode, [`${done}_micros`]: usd, available_micros: availableMicros },
      `${dollars(usd)} ${done} (${accountId}, ${mode}). Available now: ${dollars(availableMicros)}`,
    );
  });
}

type Adjustment = {
  readonly type: 'credit' | 'debit';
  readonly accountId: string;
  readonly mode: 'live' | 'test';
  readonly amountMicros: Micros;
  readonly note: string;
};

async function adjust(
  { database }: Installation,
  { type, accountId, mode, amountMicros, note }: Adjustment,
): Promise<{ readonly entryId: string; readonly availableMicros: Micros }> {
  const ledger = await openLedgerInProcess(database.url);
  try {
    const entryId = newIdWithPrefix('ent');
    const after = { entry_id: entryId, mode, amount_micros: amountMicros, note };
    const auditRow = changesBy(`accounts ${type}`, database).rowOf(changeOfAccount(type, accountId, { before: null, after }));
    const ledgerId = ledgerIdOf(accountId, mode);
    const outcome = await ledger.submit({ type, entryId, ledgerId, amountMicros, note, auditRow });
    if (outcome.type === 'unknown-ledger') throw noAccount(accountId);
    if (outcome.type !== 'credited' && outcome.type !== 'debited')
      throw new Error(`the ledger answered a ${type} with ${outcome.type}`);
    return { entryId, availableMicros: outcome.availableMicros };
  } finally {
    await ledger.close();
  }
}

function changeOfAccount(
  command: 'create' | 'update' | 'forgive-losses' | 'purge' | 'credit' | 'debit',
  accountId: string,
  { before, after }: Pick<Change, 'before' | 'after'>,
) {
  return { action: `account.${command}`, subject: accountId, accountId, before, after };
}

function noAccount(accountId: string): CommandFailed {
  return new CommandFailed(`there is no account ${accountId}; "tollgate accounts list" shows them`);
}
