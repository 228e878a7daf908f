// The rows of accounts. management/changes/accounts.ts creates an account with its ledgers and
// audit row.
import { type Selectable, sql, type Transaction } from 'kysely';
import type { Db, Tables } from '../../db/schema.ts';
import { transact } from '../../db/transact.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { snakeCase } from '../../lib/snake-case.ts';
import { withoutUndefined } from '../../lib/without-undefined.ts';
import { flagOf, readList, writeList } from '../../db/columns.ts';

const listPricePpm = 1_000_000;

/**
 * Limits of all keys of the account together. In a change, an absent field stays and null clears.
 */
type AccountLimits = {
  readonly requestsPerMinute?: number | null;
  readonly tokensPerMinute?: number | null;
  readonly concurrentRequests?: number | null;
  /** Addresses and CIDR ranges, already checked. */
  readonly allowedAddresses?: readonly string[] | null;
};

export type NewAccount = {
  /** Default: a new id. With an existing id, nothing is inserted. */
  readonly id?: string;
  readonly name: string;
  readonly priceMultiplierPpm?: number;
  readonly limits?: AccountLimits;
};

/**
 * Inserts an account. The caller must create its ledgers in the same transaction. `isNew`: false
 * when the id existed.
 */
export async function insertAccount(
  transaction: Db,
  { id = newIdWithPrefix('acc'), name, priceMultiplierPpm = listPricePpm, limits = {} }: NewAccount,
  nowMs: number,
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  const made = await transaction
    .insertInto('accounts')
    .values({
      id,
      name,
      created_at_ms: nowMs,
      price_multiplier_ppm: priceMultiplierPpm,
      ...limitColumnsOf(limits),
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  return { id, isNew: made.numInsertedOrUpdatedRows !== 0n };
}

export type AccountChange = {
  readonly name?: string;
  /** In millionths of the list price. */
  readonly priceMultiplierPpm?: number;
  /** The factor of one model; null: the account's factor for all other models. */
  readonly modelPrice?: { readonly modelId: string; readonly multiplierPpm: number | null };
  /** A frozen account cannot spend. Running requests are still charged. */
  readonly isFrozen?: boolean;
  /**
   * Keeps answers for cache hits and replays. When switched off, stored answers are no longer
   * served; the caller must erase them.
   */
  readonly retainResponses?: boolean;
  /** Lets only users with a second factor use the account in the dashboard. */
  readonly requiresSecondFactor?: boolean;
  readonly limits?: AccountLimits;
};

/** The terms that `changeTerms` can change, in the form of the audit log. */
export type AccountTerms = Awaited<ReturnType<typeof readTerms>>;

/**
 * Changes the account's terms. Every gateway on the database follows within seconds. Returns the
 * terms before and after; null when the account does not exist.
 */
export async function changeTerms(
  write: Db,
  id: string,
  change: AccountChange,
): Promise<{ readonly before: AccountTerms; readonly after: AccountTerms } | null> {
  return transact(write, async (transaction) => {
    // A write without effect locks the row on both databases, so that `before` is what this change
    // replaces.
    const lock = transaction.updateTable('accounts').set((eb) => ({ name: eb.ref('name') }));
    if ((await lock.where('id', '=', id).executeTakeFirst()).numUpdatedRows === 0n) return null;
    const before = await readTerms(transaction, id);
    const { name, priceMultiplierPpm, modelPrice, isFrozen, retainResponses, limits = {} } = change;
    const columns = withoutUndefined({
      name,
      price_multiplier_ppm: priceMultiplierPpm,
      frozen: flagOf(isFrozen),
      retain_responses: flagOf(retainResponses),
      requires_second_factor: flagOf(change.requiresSecondFactor),
      cache_generation: retainResponses === false ? nextGeneration : undefined,
      ...limitColumnsOf(limits),
    });
    if (Object.keys(columns).length > 0)
      await transaction.updateTable('accounts').set(columns).where('id', '=', id).execute();
    if (modelPrice) await setModelPrice(transaction, id, modelPrice);
    return { before, after: await readTerms(transaction, id) };
  });
}

/** Throws when the account does not exist. */
export async function readTerms(db: Db, id: string) {
  const row = await db
    .selectFrom('accounts')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const prices = await db
    .selectFrom('account_model_prices')
    .selectAll()
    .where('account_id', '=', id)
    .execute();
  return {
    name: row.name,
    frozen: row.frozen === 1,
    retain_responses: row.retain_responses === 1,
    requires_second_factor: row.requires_second_factor === 1,
    price_multiplier_ppm: row.price_multiplier_ppm,
    model_multipliers_ppm: Object.fromEntries(
      prices.map((price) => [price.model_id, price.multiplier_ppm]),
    ),
    ...limitsOf(row),
  };
}

/** An account's factors on list prices, in millionths. */
export type Multipliers = {
  readonly usualPpm: number;
  /** Of models with a factor of their own. */
  readonly models: ReadonlyMap<string, number>;
};

/** Returns the factors of every account. */
export async function readMultipliers(db: Db): Promise<ReadonlyMap<string, Multipliers>> {
  const accounts = await db.selectFrom('accounts').select(['id', 'price_multiplier_ppm']).execute();
  const own = await db.selectFrom('account_model_prices').selectAll().execute();
  const models = Map.groupBy(own, ({ account_id: id }) => id);
  return new Map(
    accounts.map(({ id, price_multiplier_ppm: usualPpm }) => [
      id,
      {
        usualPpm,
        models: new Map((models.get(id) ?? []).map((row) => [row.model_id, row.multiplier_ppm])),
      },
    ]),
  );
}

/**
 * Stops all gateways on the database from serving the account's cached answers, within seconds. The
 * caller must erase them. Returns false when the account does not exist.
 */
export async function raiseCacheGeneration(write: Db, id: string): Promise<boolean> {
  const [result] = await write
    .updateTable('accounts')
    .set({ cache_generation: nextGeneration })
    .where('id', '=', id)
    .execute();
  return result!.numUpdatedRows > 0n;
}

const nextGeneration = sql<number>`cache_generation + 1`;

function limitColumnsOf({ allowedAddresses, ...limits }: AccountLimits) {
  const columns = { ...snakeCase(limits), allowed_addresses: writeList(allowedAddresses) };
  return withoutUndefined(columns);
}

export function limitsOf(row: Selectable<Tables['accounts']>) {
  const { requests_per_minute, tokens_per_minute, concurrent_requests } = row;
  const allowed_addresses = readList(row.allowed_addresses);
  return { requests_per_minute, tokens_per_minute, concurrent_requests, allowed_addresses };
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

/** Finds accounts by id, unordered. Unknown ids are left out. */
export async function findAccounts(read: Db, ids: readonly string[]) {
  if (ids.length === 0) return [];
  const rows = await read
    .selectFrom('accounts')
    .select(['id', 'name', 'frozen', 'retain_responses', 'requires_second_factor', 'created_at_ms'])
    .where('id', 'in', ids)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    isFrozen: row.frozen === 1,
    retainResponses: row.retain_responses === 1,
    requiresSecondFactor: row.requires_second_factor === 1,
    createdAtMs: row.created_at_ms,
  }));
}

/** The oldest account's id; null in a new installation. */
export async function findFirstAccount(read: Db): Promise<string | null> {
  const row = await read
    .selectFrom('accounts')
    .select('id')
    .orderBy('created_at_ms')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row?.id ?? null;
}
