// Makes and lists accounts: what the command line and, later, the dashboard do.
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { transact } from '../db/transact.ts';
import { newIdWithPrefix } from '../lib/ids.ts';
import type { Micros } from '../lib/money.ts';
import { systemClock } from '../lib/clock.ts';

export type AccountListing = {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
  readonly frozen: boolean;
  readonly retain_responses: boolean;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly concurrent_requests: number | null;
  readonly allowed_addresses: readonly string[] | null;
  readonly live_available_micros: Micros;
  readonly test_available_micros: Micros;
};

/** Makes the account's two ledgers inside the same transaction; the ledger's own part, passed in. */
export type CreateLedgers = (
  transaction: Kysely<Tables>,
  account: { readonly accountId: string; readonly nowMs: number },
) => Promise<void>;

const listPricePpm = 1_000_000;

/** Of all keys of the account together. In a change, an absent field stays and null clears. */
type AccountLimits = {
  readonly requestsPerMinute?: number | null;
  readonly tokensPerMinute?: number | null;
  readonly concurrentRequests?: number | null;
  /** Addresses and CIDR ranges, already checked. */
  readonly allowedAddresses?: readonly string[] | null;
};

export type NewAccount = {
  /** Left out: a new one. With that of an account that there is, nothing is made. */
  readonly id?: string;
  readonly name: string;
  readonly priceMultiplierPpm?: number;
  readonly limits?: AccountLimits;
};

/** An account is never without its ledgers: both come in one transaction. Returns its id. */
export async function createAccount(
  database: Database,
  account: NewAccount,
  createLedgers: CreateLedgers,
  nowMs = systemClock.nowMs(),
): Promise<string> {
  const { id } = await transact(database, (transaction) => createAccountIn(transaction, account, { createLedgers, nowMs }));
  return id;
}

/** The same as a part of a larger transaction. `isNew`: there was none with this id. */
export async function createAccountIn(
  transaction: Kysely<Tables>,
  { id = newIdWithPrefix('acc'), name, priceMultiplierPpm = listPricePpm, limits = {} }: NewAccount,
  { createLedgers, nowMs }: { readonly createLedgers: CreateLedgers; readonly nowMs: number },
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  const made = await transaction
    .insertInto('accounts')
    .values({ id, name, created_at_ms: nowMs, price_multiplier_ppm: priceMultiplierPpm, ...limitColumnsOf(limits) })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  const isNew = made.numInsertedOrUpdatedRows !== 0n;
  if (isNew) await createLedgers(transaction, { accountId: id, nowMs });
  return { id, isNew };
}

export type AccountChange = {
  readonly name?: string;
  /** In millionths of the list prices. */
  readonly priceMultiplierPpm?: number;
  /** Of one model instead of all; null: what the account pays for all others. */
  readonly modelPrice?: { readonly modelId: string; readonly multiplierPpm: number | null };
  /** A frozen account cannot spend; what runs is still charged. */
  readonly isFrozen?: boolean;
  /** Whether its answers are kept. Once they are not, those that were are not served any more; erasing them is left to the caller. */
  readonly retainResponses?: boolean;
  readonly limits?: AccountLimits;
};

/** What `updateAccount` can change, as the audit log tells it. */
export type AccountTerms = {
  readonly name: string;
  readonly frozen: boolean;
  readonly retain_responses: boolean;
  readonly price_multiplier_ppm: number;
  /** By model id. */
  readonly model_multipliers_ppm: Readonly<Record<string, number>>;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly concurrent_requests: number | null;
  readonly allowed_addresses: readonly string[] | null;
};

/** Every gateway on the database sees it within seconds. Returns the terms before and after; null when there is no such account. */
export async function updateAccount(
  database: Database,
  id: string,
  change: AccountChange,
): Promise<{ readonly before: AccountTerms; readonly after: AccountTerms } | null> {
  return transact(database, async (transaction) => {
    // A write that changes nothing locks the row on either database, so that what was before is what this change came upon.
    const lock = transaction.updateTable('accounts').set((eb) => ({ name: eb.ref('name') }));
    if ((await lock.where('id', '=', id).executeTakeFirst()).numUpdatedRows === 0n) return null;
    const before = await readTerms(transaction, id);
    const { name, priceMultiplierPpm, modelPrice, isFrozen, retainResponses, limits = {} } = change;
    const columns = {
      ...(name !== undefined && { name }),
      ...(priceMultiplierPpm !== undefined && { price_multiplier_ppm: priceMultiplierPpm }),
      ...(isFrozen !== undefined && { frozen: isFrozen ? (1 as const) : (0 as const) }),
      ...(retainResponses !== undefined && { retain_responses: retainResponses ? (1 as const) : (0 as const) }),
      ...(retainResponses === false && { cache_generation: nextGeneration }),
      ...limitColumnsOf(limits),
    };
    if (Object.keys(columns).length > 0) await transaction.updateTable('accounts').set(columns).where('id', '=', id).execute();
    if (modelPrice) await setModelPrice(transaction, id, modelPrice);
    return { before, after: await readTerms(transaction, id) };
  });
}

/** Of an account that there is. */
export async function readTerms(db: Kysely<Tables>, id: string): Promise<AccountTerms> {
  const row = await db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const prices = await db.selectFrom('account_model_prices').selectAll().where('account_id', '=', id).execute();
  return {
    name: row.name,
    frozen: row.frozen === 1,
    retain_responses: row.retain_responses === 1,
    price_multiplier_ppm: row.price_multiplier_ppm,
    model_multipliers_ppm: Object.fromEntries(prices.map((price) => [price.model_id, price.multiplier_ppm])),
    requests_per_minute: row.requests_per_minute,
    tokens_per_minute: row.tokens_per_minute,
    concurrent_requests: row.concurrent_requests,
    allowed_addresses: row.allowed_addresses === null ? null : (JSON.parse(row.allowed_addresses) as string[]),
  };
}

/**
 * What is in the account's cache is not served any more, by any gateway on the database within seconds; erasing it is left to the
 * caller. Returns whether there is such an account.
 */
export async function raiseCacheGeneration(database: Database, id: string): Promise<boolean> {
  const [result] = await database.write
    .updateTable('accounts')
    .set({ cache_generation: nextGeneration })
    .where('id', '=', id)
    .execute();
  return result!.numUpdatedRows > 0n;
}

const nextGeneration = sql<number>`cache_generation + 1`;

function limitColumnsOf({ requestsPerMinute, tokensPerMinute, concurrentRequests, allowedAddresses }: AccountLimits) {
  return {
    ...(requestsPerMinute !== undefined && { requests_per_minute: requestsPerMinute }),
    ...(tokensPerMinute !== undefined && { tokens_per_minute: tokensPerMinute }),
    ...(concurrentRequests !== undefined && { concurrent_requests: concurrentRequests }),
    ...(allowedAddresses !== undefined && { allowed_addresses: allowedAddresses && JSON.stringify(allowedAddresses) }),
  };
}

async function setModelPrice(
  transaction: Transaction<Tables>,
  accountId: string,
  { modelId, multiplierPpm }: NonNullable<AccountChange['modelPrice']>,
): Promise<void> {
  await transaction
    .deleteFrom('account_model_prices')
    .where('account_id', '=', accountId)
    .where('model_id', '=', modelId)
    .execute();
  if (multiplierPpm === null) return;
  const row = { account_id: accountId, model_id: modelId, multiplier_ppm: multiplierPpm };
  await transaction.insertInto('account_model_prices').values(row).execute();
}

export type AccountRecord = {
  readonly id: string;
  readonly name: string;
  readonly isFrozen: boolean;
  readonly retainResponses: boolean;
  readonly createdAtMs: number;
};

/** In no order; ids that are no account's are left out. */
export async function findAccounts(database: Database, ids: readonly string[]): Promise<AccountRecord[]> {
  if (ids.length === 0) return [];
  const rows = await database.read
    .selectFrom('accounts')
    .select(['id', 'name', 'frozen', 'retain_responses', 'created_at_ms'])
    .where('id', 'in', ids)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    isFrozen: row.frozen === 1,
    retainResponses: row.retain_responses === 1,
    createdAtMs: row.created_at_ms,
  }));
}

/** The oldest account's id; null in a new installation. */
export async function findFirstAccount(database: Database): Promise<string | null> {
  const row = await database.read
    .selectFrom('accounts')
    .select('id')
    .orderBy('created_at_ms')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row?.id ?? null;
}

/** Oldest first. */
export async function listAccounts(database: Database): Promise<AccountListing[]> {
  const rows = await database.read
    .selectFrom('accounts')
    .innerJoin('ledgers', 'ledgers.account_id', 'accounts.id')
    .select([
      'accounts.id',
      'accounts.name',
      'accounts.created_at_ms',
      'accounts.frozen',
      'accounts.retain_responses',
      'accounts.requests_per_minute',
      'accounts.tokens_per_minute',
      'accounts.concurrent_requests',
      'accounts.allowed_addresses',
      'ledgers.mode',
      'ledgers.posted_micros',
      'ledgers.held_micros',
    ])
    .orderBy('accounts.created_at_ms')
    .orderBy('accounts.id')
    .execute();
  const accounts = new Map<string, AccountListing>();
  for (const row of rows) {
    const available = (row.posted_micros - row.held_micros) as Micros;
    const known = accounts.get(row.id) ?? {
      id: row.id,
      name: row.name,
      created_at: new Date(row.created_at_ms).toISOString(),
      frozen: row.frozen === 1,
      retain_responses: row.retain_responses === 1,
      requests_per_minute: row.requests_per_minute,
      tokens_per_minute: row.tokens_per_minute,
      concurrent_requests: row.concurrent_requests,
      allowed_addresses: row.allowed_addresses === null ? null : (JSON.parse(row.allowed_addresses) as string[]),
      live_available_micros: 0 as Micros,
      test_available_micros: 0 as Micros,
    };
    accounts.set(row.id, { ...known, [`${row.mode}_available_micros`]: available });
  }
  return [...accounts.values()];
}
