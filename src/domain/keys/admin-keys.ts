// Keys of the admin API. Each request looks its key up in the database, so a revoked key stops at
// once in every thread and gateway. management/changes/admin-keys.ts also writes the audit rows.
import { hash } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { AdminScope } from '../../terms/admin-scope.ts';
import type { Db, Tables } from '../../db/schema.ts';
import { type AddressList, createAddressList } from '../../lib/addresses.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { isoTimeOf } from '../../lib/iso-time.ts';
import { generateKeyText, keyHintOf, keyKindOf } from './key-text.ts';
import { readList, writeList } from '../../db/columns.ts';

export type AdminKey = {
  readonly id: string;
  readonly name: string;
  readonly scopes: ReadonlySet<string>;
  /** null: from any address. */
  readonly allowedAddresses: AddressList | null;
  readonly expiresAtMs: number | null;
};

/** An admin key as it is listed. Only `insertAdminKey` returns the key itself. */
export type AdminKeyListing = ReturnType<typeof toListing>;

export type AdminKeyOrder = {
  readonly name: string;
  readonly scopes: readonly AdminScope[];
  /** Addresses and CIDR ranges, already checked; null: from anywhere. */
  readonly allowedAddresses?: readonly string[] | null;
  readonly expiresAtMs?: number | null;
};

export type NewAdminKey = {
  /** The key itself; it is never stored. */
  readonly key: string;
  readonly listing: AdminKeyListing;
};

export async function insertAdminKey(
  write: Db,
  { name, scopes, allowedAddresses = null, expiresAtMs = null }: AdminKeyOrder,
  nowMs: number,
): Promise<NewAdminKey> {
  const key = generateKeyText('admin');
  const row = await write
    .insertInto('admin_keys')
    .values({
      id: newIdWithPrefix('adk'),
      name,
      scopes: JSON.stringify([...new Set(scopes)]),
      digest: adminKeyDigest(key),
      hint: keyHintOf(key),
      allowed_addresses: writeList(allowedAddresses),
      expires_at_ms: expiresAtMs,
      created_at_ms: nowMs,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { key, listing: toListing(row) };
}

/**
 * Revokes a key. Returns its listing, and whether this call revoked it; null when there is no such
 * key.
 */
export async function revokeAdminKey(
  write: Db,
  id: string,
  nowMs: number,
): Promise<{ readonly listing: AdminKeyListing; readonly isChanged: boolean } | null> {
  const revoked = await write
    .updateTable('admin_keys')
    .set({ revoked_at_ms: nowMs })
    .where('id', '=', id)
    .where('revoked_at_ms', 'is', null)
    .returningAll()
    .executeTakeFirst();
  if (revoked) return { listing: toListing(revoked), isChanged: true };
  const row = await write
    .selectFrom('admin_keys')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst();
  return row ? { listing: toListing(row), isChanged: false } : null;
}

/** Returns all keys, newest first. */
export async function listAdminKeys(read: Db): Promise<readonly AdminKeyListing[]> {
  const rows = await read
    .selectFrom('admin_keys')
    .selectAll()
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map(toListing);
}

/** Returns null for text that is not an admin key, and for unknown or revoked keys. */
export async function findAdminKey(read: Db, text: string): Promise<AdminKey | null> {
  if (keyKindOf(text) !== 'admin') return null;
  const row = await read
    .selectFrom('admin_keys')
    .selectAll()
    .where('digest', '=', adminKeyDigest(text))
    .where('revoked_at_ms', 'is', null)
    .executeTakeFirst();
  if (!row) return null;
  const addresses = readList(row.allowed_addresses);
  return {
    id: row.id,
    name: row.name,
    scopes: new Set(JSON.parse(row.scopes) as string[]),
    allowedAddresses: addresses && createAddressList(addresses),
    expiresAtMs: row.expires_at_ms,
  };
}

/**
 * A hash without a secret: the key has 190 random bits, so it cannot be guessed, and it survives
 * the replacement of the installation's secret.
 */
export function adminKeyDigest(text: string): string {
  return hash('sha256', text, 'base64url');
}

function toListing(row: Selectable<Tables['admin_keys']>) {
  return {
    id: row.id,
    name: row.name,
    hint: row.hint,
    scopes: JSON.parse(row.scopes) as AdminScope[],
    allowed_addresses: readList(row.allowed_addresses),
    expires_at: isoTimeOf(row.expires_at_ms),
    created_at: new Date(row.created_at_ms).toISOString(),
    revoked_at: isoTimeOf(row.revoked_at_ms),
  };
}
