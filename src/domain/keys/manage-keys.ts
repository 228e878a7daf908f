// Inserts and changes the rows of API keys. management/changes/keys.ts also writes the audit rows.
import type { Selectable, Updateable } from 'kysely';
import type { KeyScope } from '../../terms/key-scope.ts';
import type { Mode } from '../../terms/mode.ts';
import type { Db, Tables } from '../../db/schema.ts';
import { transact } from '../../db/transact.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import type { Micros } from '../../lib/money.ts';
import { type DigestKey, generateKeyText, keyDigest, keyHintOf } from './key-text.ts';
import { writeKeyOwner } from './key-owners.ts';
import { toListing, type KeyListing, type KeyLocator } from './list-keys.ts';
import { withoutUndefined } from '../../lib/without-undefined.ts';
import { flagOf, writeList } from '../../db/columns.ts';

/** Settings of a key. In a change, an absent field keeps its value and null clears it. */
export type KeyControls = {
  readonly name?: string;
  readonly dailyCapMicros?: Micros | null;
  readonly monthlyCapMicros?: Micros | null;
  /** Catalogue model ids, already resolved. */
  readonly models?: readonly string[] | null;
  readonly scopes?: readonly KeyScope[] | null;
  readonly requestsPerMinute?: number | null;
  readonly tokensPerMinute?: number | null;
  readonly concurrentRequests?: number | null;
  /** Addresses and CIDR ranges, already validated. */
  readonly allowedAddresses?: readonly string[] | null;
  readonly expiresAtMs?: number | null;
  /** Already validated. null: the bodies of its requests are not kept. */
  readonly bodyDays?: number | null;
  readonly marksCache?: boolean;
};

export type NewKey = {
  readonly id: string;
  /** The key itself; it is never stored. */
  readonly key: string;
  readonly listing: KeyListing;
};

export type KeyOrder = KeyControls & {
  readonly accountId: string;
  readonly mode: Mode;
  /** The user to whom it belongs; left out: nobody. */
  readonly ownerId?: string;
  /** How its text starts; left out: at random. */
  readonly textStart?: string;
};

/** Creates a key. Returns null when the account does not exist. */
export async function insertKey(
  write: Db,
  digestKey: DigestKey,
  { accountId, mode, ownerId, textStart, ...controls }: KeyOrder,
  nowMs: number,
): Promise<NewKey | null> {
  const account = await write
    .selectFrom('accounts')
    .select('id')
    .where('id', '=', accountId)
    .executeTakeFirst();
  if (!account) return null;
  const id = newIdWithPrefix('key');
  const key = generateKeyText(mode, textStart);
  const row = await write
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
  if (ownerId !== undefined)
    await writeKeyOwner(write, { keyId: id, accountId, mode, userId: ownerId });
  return { id, key, listing: toListing(row) };
}

export type Rotation =
  | { readonly kind: 'rotated'; readonly before: KeyListing; readonly made: NewKey }
  | Exclude<KeyOutcome, { readonly kind: 'changed' }>;

/**
 * Gives a key a new text. The one before works for `overlapMs` more, at most until the key expires;
 * texts from before that one end now. Caps, limits and spending stay with the key.
 */
export async function replaceKeyText(
  write: Db,
  digestKey: DigestKey,
  { keyId, accountId, overlapMs }: KeyLocator & { readonly overlapMs: number },
  nowMs: number,
): Promise<Rotation> {
  return transact(write, async (transaction) => {
    const before = await lockKey(transaction, { keyId, accountId });
    if (!before) return { kind: 'unknown' };
    if (before.revoked_at_ms !== null) return { kind: 'revoked' };
    const { digest, secret_id, hint } = before;
    await transaction.deleteFrom('earlier_keys').where('key_id', '=', keyId).execute();
    if (overlapMs > 0) {
      const expires_at_ms = nowMs + overlapMs;
      await transaction
        .insertInto('earlier_keys')
        .values({ digest, key_id: keyId, secret_id, hint, expires_at_ms })
        .execute();
    }
    const key = generateKeyText(before.mode);
    const changed = {
      digest: keyDigest(digestKey, key),
      secret_id: digestKey.secretId,
      hint: keyHintOf(key),
    };
    const after = await transaction
      .updateTable('api_keys')
      .set(changed)
      .where('id', '=', keyId)
      .returningAll()
      .executeTakeFirstOrThrow();
    // A new digest alone does not invalidate the caches of gateways; this update does.
    await transaction
      .updateTable('api_keys')
      .set((eb) => ({ name: eb.ref('name') }))
      .where('id', '=', keyId)
      .execute();
    return {
      kind: 'rotated',
      before: toListing(before),
      made: { id: keyId, key, listing: toListing(after) },
    };
  });
}

export type KeyOutcome =
  | { readonly kind: 'changed'; readonly before: KeyListing; readonly after: KeyListing }
  /** The key was revoked before; nothing was changed. */
  | { readonly kind: 'revoked' }
  | { readonly kind: 'unknown' };

/** Finds a key that is not revoked by the digest of its newest text, under any of the secrets. */
export function findByDigest(
  read: Db,
  digests: readonly string[],
): Promise<{ readonly keyId: string; readonly accountId: string } | undefined> {
  return read
    .selectFrom('api_keys')
    .select(['id as keyId', 'account_id as accountId'])
    .where('digest', 'in', digests)
    .where('revoked_at_ms', 'is', null)
    .executeTakeFirst();
}

/** Returns key names by id, over all accounts. Keys are never deleted, so every id has a name. */
export async function readKeyNames(
  read: Db,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (keyIds.length === 0) return new Map();
  const rows = await read
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
  write: Db,
  { keyId, accountId }: KeyLocator,
  change: KeyChange,
  nowMs: number,
): Promise<KeyOutcome> {
  return transact(write, async (transaction) => {
    const before = await lockKey(transaction, { keyId, accountId });
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

/**
 * Locks a key by an update that changes nothing, which works on both databases, and returns the
 * state that a change replaces.
 */
export function lockKey(
  transaction: Db,
  { keyId, accountId }: KeyLocator,
): Promise<Row | undefined> {
  let lock = transaction.updateTable('api_keys').set((eb) => ({ name: eb.ref('name') }));
  lock = lock.where('id', '=', keyId);
  if (accountId !== undefined) lock = lock.where('account_id', '=', accountId);
  return lock.returningAll().executeTakeFirst();
}

type Row = Selectable<Tables['api_keys']>;

function columnsFor(
  change: KeyChange,
  before: Row,
  nowMs: number,
): Omit<Updateable<Tables['api_keys']>, 'id'> {
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

/** Names each column: callers pass objects that hold more. */
export function columnsOf(controls: KeyControls) {
  return withoutUndefined({
    name: controls.name,
    daily_cap_micros: controls.dailyCapMicros,
    monthly_cap_micros: controls.monthlyCapMicros,
    models: writeList(controls.models),
    scopes: writeList(controls.scopes),
    requests_per_minute: controls.requestsPerMinute,
    tokens_per_minute: controls.tokensPerMinute,
    concurrent_requests: controls.concurrentRequests,
    allowed_addresses: writeList(controls.allowedAddresses),
    expires_at_ms: controls.expiresAtMs,
    body_days: controls.bodyDays,
    cache_marks: flagOf(controls.marksCache),
  });
}
