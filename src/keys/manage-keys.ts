// Makes, changes, disables and revokes API keys: what the command line and the dashboard do.
import type { Selectable, Updateable } from 'kysely';
import type { Database } from '../db/database.ts';
import type { ApiKeysTable } from '../db/schema.ts';
import { transact } from '../db/transact.ts';
import { newIdWithPrefix } from '../lib/ids.ts';
import type { Micros } from '../lib/money.ts';
import { type DigestKey, generateKeyText, keyDigest, keyHintOf } from './key-text.ts';
import { toListing, type KeyListing, type KeyPlace } from './list-keys.ts';
import { systemClock } from '../lib/clock.ts';

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

export type NewKey = {
  readonly id: string;
  /** Its text, the only copy there will ever be. */
  readonly key: string;
  readonly listing: KeyListing;
};

/** Makes a key. Returns null when there is no such account. */
export async function createKey(
  database: Database,
  digestKey: DigestKey,
  { accountId, mode, ...controls }: KeyControls & { readonly accountId: string; readonly mode: 'live' | 'test' },
  nowMs = systemClock.nowMs(),
): Promise<NewKey | null> {
  const account = await database.write.selectFrom('accounts').select('id').where('id', '=', accountId).executeTakeFirst();
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
  /** Before: that is for good, so nothing was changed. */
  | { readonly kind: 'revoked'; readonly key: KeyListing }
  | { readonly kind: 'unknown' };

/** By their ids, whoever's they are. A key is never removed, so each has one. */
export async function readKeyNames(database: Database, keyIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (keyIds.length === 0) return new Map();
  const rows = await database.read.selectFrom('api_keys').select(['id', 'name']).where('id', 'in', keyIds).execute();
  return new Map(rows.map((row) => [row.id, row.name]));
}

export async function updateKey(database: Database, place: KeyPlace, controls: KeyControls): Promise<KeyOutcome> {
  return changeKey(database, place, () => columnsOf(controls));
}

/** Switches a key off, or on again. */
export async function setKeyDisabled(
  database: Database,
  place: KeyPlace,
  isDisabled: boolean,
  nowMs = systemClock.nowMs(),
): Promise<KeyOutcome> {
  return changeKey(database, place, (before) => ({ disabled_at_ms: isDisabled ? (before.disabled_at_ms ?? nowMs) : null }));
}

/** Ends a key for good. */
export async function revokeKey(database: Database, place: KeyPlace, nowMs = systemClock.nowMs()): Promise<KeyOutcome> {
  return changeKey(database, place, () => ({ revoked_at_ms: nowMs }));
}

type Columns = Omit<Updateable<ApiKeysTable>, 'id'>;

async function changeKey(
  database: Database,
  { keyId, accountId }: KeyPlace,
  columnsFor: (before: Selectable<ApiKeysTable>) => Columns,
): Promise<KeyOutcome> {
  return transact(database, async (transaction) => {
    // A write that changes nothing locks the row on either database, so that what was before is what this change came upon.
    let lock = transaction.updateTable('api_keys').set((eb) => ({ name: eb.ref('name') }));
    lock = lock.where('id', '=', keyId);
    if (accountId !== undefined) lock = lock.where('account_id', '=', accountId);
    const before = await lock.returningAll().executeTakeFirst();
    if (!before) return { kind: 'unknown' };
    if (before.revoked_at_ms !== null) return { kind: 'revoked', key: toListing(before) };
    const columns = columnsFor(before);
    if (Object.keys(columns).length > 0) await transaction.updateTable('api_keys').set(columns).where('id', '=', keyId).execute();
    return { kind: 'changed', before: toListing(before), after: toListing({ ...before, ...columns }) };
  });
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
