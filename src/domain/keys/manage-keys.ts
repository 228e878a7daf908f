// Inserts and changes the rows of API keys. src/operations/keys.ts also writes the audit rows.
import type { Selectable, Updateable } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { ApiKeysTable } from '../../db/schema.ts';
import { transact } from '../../db/transact.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import type { Micros } from '../../lib/money.ts';
import { type DigestKey, generateKeyText, keyDigest, keyHintOf } from './key-text.ts';
import { toListing, type KeyListing, type KeyLocator } from './list-keys.ts';

/** Settings of a key. In a change, an absent field keeps its value and null clears it. */
export type KeyControls = {
  readonly name?: string;
  readonly dailyCapMicros?: Micros | null;
  readonly monthlyCapMicros?: Micros | null;
  /** Catalogue model ids, already resolved. */
  readonly models?: readonly string[] | null;
  readonly requestsPerMinute?: number | null;
  readonly tokensPerMinute?: number | null;
  readonly concurrentRequests?: number | null;
  /** Addresses and CIDR ranges, already validated. */
  readonly allowedAddresses?: readonly string[] | null;
  readonly expiresAtMs?: number | null;
};

export type NewKey = {
  readonly id: string;
  /** The key itself; it is never stored. */
  readonly key: string;
  readonly listing: KeyListing;
};

export type KeyOrder = KeyControls & { readonly accountId: string; readonly mode: 'live' | 'test' };

/** Creates a key. Returns null when the account does not exist. */
export async function insertKey(
  database: Database,
  digestKey: DigestKey,
  { accountId, mode, ...controls }: KeyOrder,
  nowMs: number,
): Promise<NewKey | null> {
  const account = await database.write
    .selectFrom('accounts')
    .select('id')
    .where('id', '=', accountId)
    .executeTakeFirst();
  if (!account) return null;
  const id = newIdWithPrefix('key');
  const key = generateKeyText(mode);
  const row = await database.write
    .insertInto('api_keys')
    .values({
      id,
      account_id: accountId,
      mode,
      name: '',
      digest: keyDigest(digestKey, key),
      secret_id: digestKey.secretId,
      hint: keyHintOf(key),
      created_at_ms: nowMs,
      ...columnsOf(controls),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { id, key, listing: toListing(row) };
}

export type KeyOutcome =
  | { readonly kind: 'changed'; readonly before: KeyListing; readonly after: KeyListing }
  /** The key was revoked before; nothing was changed. */
  | { readonly kind: 'revoked' }
  | { readonly kind: 'unknown' };

/** Returns key names by id, over all accounts. Keys are never deleted, so every id has a name. */
export async function readKeyNames(
  database: Database,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (keyIds.length === 0) return new Map();
  const rows = await database.read
    .selectFrom('api_keys')
    .select(['id', 'name'])
    .where('id', 'in', keyIds)
    .execute();
  return new Map(rows.map((row) => [row.id, row.name]));
}

export type KeyChange =
  | { readonly action: 'update'; readonly controls: KeyControls }
  /** A disabled key can be enabled again; a revoked one cannot. */
  | { readonly action: 'disable' | 'enable' | 'revoke' };

/** Changes a key. Disabling a disabled key or revoking a revoked one changes nothing. */
export async function alterKey(
  database: Database,
  { keyId, accountId }: KeyLocator,
  change: KeyChange,
  nowMs: number,
): Promise<KeyOutcome> {
  return transact(database, async (transaction) => {
    // A no-op update locks the row on both databases, so that `before` is the state that this
    // change replaces.
    let lock = transaction.updateTable('api_keys').set((eb) => ({ name: eb.ref('name') }));
    lock = lock.where('id', '=', keyId);
    if (accountId !== undefined) lock = lock.where('account_id', '=', accountId);
    const before = await lock.returningAll().executeTakeFirst();
    if (!before) return { kind: 'unknown' };
    if (before.revoked_at_ms !== null && change.action !== 'revoke') return { kind: 'revoked' };
    const columns = columnsFor(change, before, nowMs);
    if (Object.keys(columns).length > 0)
      await transaction.updateTable('api_keys').set(columns).where('id', '=', keyId).execute();
    return {
      kind: 'changed',
      before: toListing(before),
      after: toListing({ ...before, ...columns }),
    };
  });
}

type Row = Selectable<ApiKeysTable>;

function columnsFor(
  change: KeyChange,
  before: Row,
  nowMs: number,
): Omit<Updateable<ApiKeysTable>, 'id'> {
  switch (change.action) {
    case 'update':
      return columnsOf(change.controls);
    case 'disable':
      return { disabled_at_ms: before.disabled_at_ms ?? nowMs };
    case 'enable':
      return { disabled_at_ms: null };
    case 'revoke':
      return { revoked_at_ms: before.revoked_at_ms ?? nowMs };
  }
}

function columnsOf(controls: KeyControls) {
  const { name, dailyCapMicros, monthlyCapMicros, models, requestsPerMinute } = controls;
  const { tokensPerMinute, concurrentRequests, allowedAddresses, expiresAtMs } = controls;
  return {
    ...(name !== undefined && { name }),
    ...(dailyCapMicros !== undefined && { daily_cap_micros: dailyCapMicros }),
    ...(monthlyCapMicros !== undefined && { monthly_cap_micros: monthlyCapMicros }),
    ...(models !== undefined && { models: toJson(models) }),
    ...(requestsPerMinute !== undefined && { requests_per_minute: requestsPerMinute }),
    ...(tokensPerMinute !== undefined && { tokens_per_minute: tokensPerMinute }),
    ...(concurrentRequests !== undefined && { concurrent_requests: concurrentRequests }),
    ...(allowedAddresses !== undefined && { allowed_addresses: toJson(allowedAddresses) }),
    ...(expiresAtMs !== undefined && { expires_at_ms: expiresAtMs }),
  };
}

function toJson(list: readonly string[] | null): string | null {
  return list && JSON.stringify(list);
}
