// Makes, lists, changes and revokes API keys: what the command line and, later, the dashboard do.
import type { Selectable } from 'kysely';
import type { Database } from '../db/database.ts';
import type { ApiKeysTable } from '../db/schema.ts';
import { newIdWithPrefix } from '../lib/ids.ts';
import type { Micros } from '../lib/money.ts';
import { generateKeyText, keyDigest, keyHintOf } from './key-text.ts';

/** What can be set and changed on a key. In a change, an absent field stays and null clears. */
export type KeyControls = {
  readonly name?: string;
  readonly dailyCapMicros?: Micros | null;
  readonly monthlyCapMicros?: Micros | null;
  /** Catalogue ids, already resolved. */
  readonly models?: readonly string[] | null;
  readonly requestsPerMinute?: number | null;
  readonly tokensPerMinute?: number | null;
  readonly concurrentRequests?: number | null;
  /** Addresses and CIDR ranges, already checked. */
  readonly allowedAddresses?: readonly string[] | null;
  readonly expiresAtMs?: number | null;
};

/** A key as it is listed; its text is shown only by `createKey`. */
export type KeyListing = {
  readonly id: string;
  readonly account_id: string;
  readonly mode: 'live' | 'test';
  readonly name: string;
  readonly hint: string;
  readonly daily_cap_micros: Micros | null;
  readonly monthly_cap_micros: Micros | null;
  readonly models: readonly string[] | null;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly concurrent_requests: number | null;
  readonly allowed_addresses: readonly string[] | null;
  readonly expires_at: string | null;
  readonly created_at: string;
  readonly revoked_at: string | null;
};

/** Makes a key. The text in the result is the only copy there will ever be. Returns null when there is no such account. */
export async function createKey(
  database: Database,
  digestKey: Uint8Array,
  { accountId, mode, ...controls }: KeyControls & { readonly accountId: string; readonly mode: 'live' | 'test' },
): Promise<{ readonly id: string; readonly key: string } | null> {
  const account = await database.read.selectFrom('accounts').select('id').where('id', '=', accountId).executeTakeFirst();
  if (!account) return null;
  const id = newIdWithPrefix('key');
  const key = generateKeyText(mode);
  await database.write
    .insertInto('api_keys')
    .values({
      id,
      account_id: accountId,
      mode,
      name: '',
      digest: keyDigest(digestKey, key),
      hint: keyHintOf(key),
      daily_cap_micros: null,
      monthly_cap_micros: null,
      models: null,
      requests_per_minute: null,
      created_at_ms: Date.now(),
      revoked_at_ms: null,
      ...columnsOf(controls),
    })
    .execute();
  return { id, key };
}

/** All keys, or one account's, newest first. */
export async function listKeys(database: Database, accountId: string | null): Promise<KeyListing[]> {
  let query = database.read.selectFrom('api_keys').selectAll().orderBy('created_at_ms', 'desc').orderBy('id', 'desc');
  if (accountId !== null) query = query.where('account_id', '=', accountId);
  return (await query.execute()).map(toListing);
}

/** Returns the key as it is afterwards, or null when there is none. */
export async function updateKey(database: Database, keyId: string, controls: KeyControls): Promise<KeyListing | null> {
  const columns = columnsOf(controls);
  if (Object.keys(columns).length > 0)
    await database.write.updateTable('api_keys').set(columns).where('id', '=', keyId).execute();
  return findKey(database, keyId);
}

/** Revokes for good; a second time changes nothing. Returns the key, or null when there is none. */
export async function revokeKey(database: Database, keyId: string): Promise<KeyListing | null> {
  const now = Date.now();
  await database.write
    .updateTable('api_keys')
    .set({ revoked_at_ms: now })
    .where('id', '=', keyId)
    .where('revoked_at_ms', 'is', null)
    .execute();
  return findKey(database, keyId);
}

async function findKey(database: Database, keyId: string): Promise<KeyListing | null> {
  const row = await database.read.selectFrom('api_keys').selectAll().where('id', '=', keyId).executeTakeFirst();
  return row ? toListing(row) : null;
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

function toListing(row: Selectable<ApiKeysTable>): KeyListing {
  return {
    id: row.id,
    account_id: row.account_id,
    mode: row.mode,
    name: row.name,
    hint: row.hint,
    daily_cap_micros: row.daily_cap_micros,
    monthly_cap_micros: row.monthly_cap_micros,
    models: fromJson(row.models),
    requests_per_minute: row.requests_per_minute,
    tokens_per_minute: row.tokens_per_minute,
    concurrent_requests: row.concurrent_requests,
    allowed_addresses: fromJson(row.allowed_addresses),
    expires_at: toTime(row.expires_at_ms),
    created_at: new Date(row.created_at_ms).toISOString(),
    revoked_at: toTime(row.revoked_at_ms),
  };
}

function toJson(list: readonly string[] | null): string | null {
  return list && JSON.stringify(list);
}

function fromJson(text: string | null): readonly string[] | null {
  return text === null ? null : (JSON.parse(text) as string[]);
}

function toTime(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}
