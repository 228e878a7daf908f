// `tollgate accounts …`
import { createAccount, listAccounts } from '../accounts/manage-accounts.ts';
import { formatUsd, type Micros } from '../lib/money.ts';
import { newIdWithPrefix } from '../lib/ids.ts';
import { ledgerIdOf } from '../ledger/commands.ts';
import { createLedgers } from '../ledger/create-ledgers.ts';
import { openLedgerInProcess } from '../ledger/open-ledger.ts';
import { withInstallation, type Installation } from './installation.ts';
import { CommandFailed, formatTable, printResult, type JsonOption } from './output.ts';

export async function createAccountCommand(options: JsonOption & { name: string; creditUsd?: Micros }): Promise<void> {
  await withInstallation(async (installation) => {
    const id = await createAccount(installation.database, options.name, createLedgers);
    if (options.creditUsd !== undefined) {
      credit(installation, { accountId: id, mode: 'live', amountMicros: options.creditUsd, note: 'first credit' });
    }
    printResult(
      options,
      { id, name: options.name },
      `Account ${id} (${options.name}). Make a key: tollgate keys create --account ${id} --mode live`,
    );
  });
}

export async function listAccountsCommand(options: JsonOption): Promise<void> {
  await withInstallation(async ({ database }) => {
    const accounts = await listAccounts(database);
    const rows = accounts.map((account) => [
      account.id,
      account.name,
      `$${formatUsd(account.live_available_micros)}`,
      `$${formatUsd(account.test_available_micros)}`,
      account.created_at,
    ]);
    printResult(options, accounts, formatTable(['ACCOUNT', 'NAME', 'LIVE', 'TEST', 'CREATED'], rows));
  });
}

export async function creditAccountCommand(
  accountId: string,
  options: JsonOption & { usd: Micros; test?: true; note?: string },
): Promise<void> {
  await withInstallation(async (installation) => {
    const mode = options.test ? 'test' : 'live';
    const note = options.note ?? 'credited by command line';
    const { entryId, availableMicros } = credit(installation, { accountId, mode, amountMicros: options.usd, note });
    printResult(
      options,
      { id: entryId, account_id: accountId, mode, credited_micros: options.usd, available_micros: availableMicros },
      `Credited $${formatUsd(options.usd)} to ${accountId} (${mode}). Available now: $${formatUsd(availableMicros)}`,
    );
  });
}

type NewCredit = {
  readonly accountId: string;
  readonly mode: 'live' | 'test';
  readonly amountMicros: Micros;
  readonly note: string;
};

function credit(
  { database }: Installation,
  { accountId, mode, amountMicros, note }: NewCredit,
): { readonly entryId: string; readonly availableMicros: Micros } {
  const ledger = openLedgerInProcess(database.url);
  try {
    const entryId = newIdWithPrefix('ent');
    const outcome = ledger.submit({ type: 'credit', entryId, ledgerId: ledgerIdOf(accountId, mode), amountMicros, note });
    if (outcome.type === 'unknown-ledger')
      throw new CommandFailed(`there is no account ${accountId}; "tollgate accounts list" shows them`);
    if (outcome.type !== 'credited') throw new Error(`the ledger answered a credit with ${outcome.type}`);
    return { entryId, availableMicros: outcome.availableMicros };
  } finally {
    ledger.close();
  }
}
