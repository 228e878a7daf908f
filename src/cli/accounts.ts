// `tollgate accounts …`
import type { AccountChange } from '../domain/accounts/manage-accounts.ts';
import { listAccounts } from '../domain/accounts/search-accounts.ts';
import { loadCatalog } from '../domain/catalog/load-catalog.ts';
import type { Config } from '../config/schema.ts';
import { type Micros, zeroMicros } from '../lib/money.ts';
import { systemClock } from '../lib/clock.ts';
import { ledgerIdOf } from '../domain/ledger/commands.ts';
import { readLossStandings } from '../domain/ledger/reports/loss-budget.ts';
import { openLedgerInProcess } from '../domain/ledger/open-ledger.ts';
import {
  createAccount,
  forgiveLosses,
  purgeAccount,
  updateAccount,
} from '../management/changes/accounts.ts';
import { type Adjustment, adjustBalance } from '../management/changes/balances.ts';
import { resolveModelIds, type Installation } from './installation.ts';
import { CommandFailed, dollars, requireChange, tableOf, type Output } from './output.ts';
import { none, orNull, requestLimitsOf, type OrNone, type RequestLimitOptions } from './parse.ts';

type NewAccount = RequestLimitOptions & {
  readonly name: string;
  readonly creditUsd?: Micros;
  readonly priceMultiplier?: number;
};

export async function createAccountCommand(
  installation: Installation,
  { name, creditUsd, priceMultiplier, ...options }: NewAccount,
): Promise<Output> {
  const account = { name, priceMultiplierPpm: priceMultiplier, limits: requestLimitsOf(options) };
  const { id } = await createAccount(installation.changes, account);
  const credit = { kind: 'credit', accountId: id, mode: 'live', note: 'first credit' } as const;
  if (creditUsd !== undefined) await adjust(installation, { ...credit, amountMicros: creditUsd });
  return [
    { id, name },
    `Created account ${id} (${name}). Create a key: tollgate keys create --account ${id} --mode live`,
  ];
}

export async function listAccountsCommand({ config, database }: Installation): Promise<Output> {
  const standings = await readLossStandings(database.read, {
    limits: config.limits,
    nowMs: systemClock.nowMs(),
  });
  const accounts = (await listAccounts(database)).map((account) => {
    const { causedMicros = zeroMicros, isExceeded = false } =
      standings.get(ledgerIdOf(account.id, 'live')) ?? {};
    return { ...account, provoked_loss_micros: causedMicros, loss_budget_exceeded: isExceeded };
  });
  const table = tableOf(accounts, {
    ACCOUNT: ({ id }) => id,
    NAME: ({ name }) => name,
    LIVE: (account) => dollars(account.live_available_micros),
    TEST: (account) => dollars(account.test_available_micros),
    'PROVOKED LOSSES': ({ provoked_loss_micros: lost, loss_budget_exceeded: isExceeded }) =>
      dollars(lost) + (isExceeded ? ' (refused)' : ''),
    CREATED: (account) => account.created_at,
  });
  return [accounts, table];
}

type AccountOptions = RequestLimitOptions & {
  readonly priceMultiplier?: OrNone<number>;
  readonly model?: string;
  readonly frozen?: 'yes' | 'no';
  readonly retainResponses?: 'on' | 'off';
  readonly forgiveLosses?: true;
};

export async function updateAccountCommand(
  { config, changes }: Installation,
  accountId: string,
  options: AccountOptions,
): Promise<Output> {
  requireChange(options);
  const erased = await updateAccount(changes, accountId, changeOf(config, options));
  const forgiven = options.forgiveLosses ? await forgiveLosses(changes, accountId) : {};
  const done = `Account ${accountId} was changed. Running gateways apply the change within seconds.`;
  return [{ id: accountId, ...erased, ...forgiven }, done];
}

export async function purgeAccountCommand(
  { changes }: Installation,
  accountId: string,
): Promise<Output> {
  const erased = await purgeAccount(changes, accountId);
  const done =
    `Erased ${erased.cached_responses_erased} cached answers, ${erased.replayed_responses_erased} answers kept for replay and the kept bodies of ${erased.kept_bodies_erased} requests. ` +
    'Running gateways stop serving them within seconds.';
  return [{ id: accountId, ...erased }, done];
}

function changeOf(config: Config, options: AccountOptions): AccountChange {
  const { priceMultiplier, model, frozen, retainResponses } = options;
  if (model !== undefined && priceMultiplier === undefined)
    throw new CommandFailed('--model works only with --price-multiplier');
  if (model === undefined && priceMultiplier === none) {
    throw new CommandFailed(
      '--price-multiplier none works only with --model; to reset all models, use --price-multiplier 1',
    );
  }
  const change = {
    limits: requestLimitsOf(options),
    isFrozen: frozen && frozen === 'yes',
    retainResponses: retainResponses && retainResponses === 'on',
  };
  const multiplierPpm = orNull(priceMultiplier);
  if (multiplierPpm === undefined) return change;
  if (model === undefined) return { ...change, priceMultiplierPpm: multiplierPpm! };
  const [modelId] = resolveModelIds(loadCatalog(config), [model]);
  return { ...change, modelPrice: { modelId: modelId!, multiplierPpm } };
}

type AdjustmentOptions = {
  readonly usd: Micros;
  readonly test?: true;
  readonly note?: string;
};

export async function adjustAccountCommand(
  installation: Installation,
  kind: Adjustment['kind'],
  accountId: string,
  { usd, test, note = 'by command line' }: AdjustmentOptions,
): Promise<Output> {
  const mode = test ? 'test' : 'live';
  const adjustment = { kind, accountId, mode, amountMicros: usd, note } as const;
  const { entryId: id, availableMicros } = await adjust(installation, adjustment);
  const done = `${kind}ed`;
  const amounts = { [`${done}_micros`]: usd, available_micros: availableMicros };
  return [
    { id, account_id: accountId, mode, ...amounts },
    `${dollars(usd)} ${done} (${accountId}, ${mode}). Available now: ${dollars(availableMicros)}`,
  ];
}

async function adjust({ database, changes }: Installation, adjustment: Adjustment) {
  const ledger = await openLedgerInProcess(database.url);
  try {
    // Its entry has a new id, so there is no earlier one.
    return (await adjustBalance(changes, ledger, adjustment))!;
  } finally {
    await ledger.close();
  }
}
