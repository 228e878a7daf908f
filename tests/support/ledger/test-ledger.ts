// A ledger for tests: a database in a temporary folder, accounts and keys, and commands to send.
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import type { Tables } from '../../../src/db/schema.ts';
import type { Mode } from '../../../src/terms/mode.ts';
import { noUsage } from '../../../src/canonical/usage.ts';
import { type Micros, micros } from '../../../src/lib/money.ts';
import type { Book } from '../../../src/domain/ledger/book.ts';
import type {
  Budget,
  ChargeRecord,
  Credit,
  Extend,
  LedgerId,
  Reserve,
  Settle,
} from '../../../src/domain/ledger/commands.ts';
import { createLedgers } from '../../../src/domain/ledger/create-ledgers.ts';
import { dataParent } from '../data-parent.ts';
import type { Hooks } from '../file-hooks.ts';
import { writeMigratedFile } from '../migrated-file.ts';

export const startMs = Date.UTC(2026, 10, 21, 12);

/** Opens a migrated database; closes and removes it after the test. */
export async function openTestDatabase(t: Hooks): Promise<Database> {
  const folder = mkdtempSync(join(dataParent(), 'tollgate-'));
  const path = join(folder, 'test.db');
  await writeMigratedFile(path);
  const database = openDatabase(`sqlite:${path}`);
  t.after(async () => {
    await database.close();
    rmSync(folder, { recursive: true });
  });
  return database;
}

/** Creates an account with its two ledgers, and a live key for each name. */
export async function addAccount(
  database: Database,
  id: string,
  keyIds: readonly string[],
): Promise<void> {
  await database.write
    .transaction()
    .execute((transaction) => insertAccount(transaction, id, keyIds));
}

export async function insertAccount(
  transaction: Kysely<Tables>,
  id: string,
  keyIds: readonly string[],
): Promise<void> {
  await transaction
    .insertInto('accounts')
    .values({ id, name: id, created_at_ms: startMs })
    .execute();
  await createLedgers(transaction, { accountId: id, nowMs: startMs });
  for (const keyId of keyIds)
    await transaction.insertInto('api_keys').values(keyRow(keyId, id)).execute();
}

function keyRow(id: string, accountId: string) {
  const caps = {
    daily_cap_micros: null,
    monthly_cap_micros: null,
    models: null,
    requests_per_minute: null,
  };
  const mode: Mode = 'live';
  return {
    id,
    account_id: accountId,
    mode,
    name: id,
    digest: id,
    hint: id,
    ...caps,
    created_at_ms: startMs,
    revoked_at_ms: null,
  };
}

/** A book with these empty ledgers, for tests of the core alone. */
export function emptyBook(ledgerIds: readonly LedgerId[]): Book {
  const empty = {
    postedMicros: micros(0),
    heldMicros: micros(0),
    inputTokens: 0,
    outputTokens: 0,
    isFrozen: false,
    lastEntryAtMs: 0,
  };
  const ledgers = new Map(ledgerIds.map((id) => [id, empty]));
  return {
    ledgers,
    windows: new Map(),
    holds: new Map(),
    entries: new Map(),
    claims: new Map(),
    members: new Map(),
  };
}

/** Gives keys to a member. */
export async function giveKeys(
  transaction: Kysely<Tables>,
  {
    ledgerId,
    memberId,
    keyIds,
  }: { ledgerId: LedgerId; memberId: string; keyIds: readonly string[] },
): Promise<void> {
  const rows = keyIds.map((key_id) => ({ key_id, ledger_id: ledgerId, user_id: memberId }));
  await transaction.insertInto('key_owners').values(rows).execute();
}

/** Left out: no budget of this kind. */
export function budgetOf(
  memberId: string,
  { daily, monthly }: { daily?: number | undefined; monthly?: number | undefined },
): { budget?: Budget } {
  if (daily === undefined && monthly === undefined) return {};
  const dailyMicros = (daily ?? null) as Micros | null;
  const monthlyMicros = (monthly ?? null) as Micros | null;
  return { budget: { memberId, dailyMicros, monthlyMicros } };
}

/** A record of 100 input and 10 output tokens. */
export const record: ChargeRecord = {
  modelId: 'sandbox/echo',
  modelName: 'Echo',
  endpoint: 'chat',
  provider: 'sandbox',
  usage: { ...noUsage, inputTokens: 60, cacheReadTokens: 40, outputTokens: 10 },
  webSearches: 0,
  images: 0,
  usageSource: 'upstream',
  priceVersion: '0',
  upstreamCostMicros: micros(1),
  ending: 'complete',
  streamed: false,
  attempts: 2,
  durationMs: 1_500,
  firstByteMs: null,
};

type Asked = { readonly holdId: string; readonly ledgerId: LedgerId; readonly keyId: string };

export function reserveOf(
  asked: Asked,
  amount: number,
  caps: { daily?: number; monthly?: number } = {},
): Reserve {
  const dailyCapMicros = (caps.daily ?? null) as Micros | null;
  const monthlyCapMicros = (caps.monthly ?? null) as Micros | null;
  return {
    type: 'reserve',
    ...asked,
    amountMicros: micros(amount),
    dailyCapMicros,
    monthlyCapMicros,
    owner: 'run_1',
  };
}

export function extendOf(asked: Asked, part: number, amount: number): Extend {
  return { type: 'extend', ...asked, part, amountMicros: micros(amount) };
}

export function settleOf(asked: Asked, cost: number): Settle {
  return { type: 'settle', ...asked, costMicros: micros(cost), price: null, record };
}

export function creditOf(
  ledgerId: LedgerId,
  amount: number,
  entryId = `credit-${ledgerId}-${amount}`,
): Credit {
  return { type: 'credit', entryId, ledgerId, amountMicros: micros(amount), note: 'test' };
}
