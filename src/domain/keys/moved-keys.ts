// Keys that were made by another gateway, moved here, and keep their text. Of LiteLLM's keys only a
// plain hash is known until their first use: key-store.ts then replaces it.
// management/changes/imports.ts writes the audit rows.
import type { Database } from '../../db/database.ts';
import { type DigestKey, keyDigest, plainDigest } from './key-text.ts';
import { type KeyListing, toListing } from './list-keys.ts';
import { columnsOf, type KeyOrder } from './manage-keys.ts';

/**
 * The row of `revisions` that exists since the first key was moved here. Without it, a text without
 * our checksum is never looked up.
 */
export const movedKeysRevision = 'moved-keys';

export type MovedKey = Omit<KeyOrder, 'ownerId' | 'mode'> & {
  /** Derived from the key's id at the source, so that a second import finds the first. */
  readonly id: string;
  /** The key itself, or LiteLLM's hash of it: SHA-256 in hexadecimal digits. */
  readonly text: { readonly plain: string } | { readonly sha256: string };
  readonly hint: string;
  readonly isDisabled: boolean;
  /** Hashes of texts before a rotation, which work until they expire. */
  readonly earlier?: readonly { readonly sha256: string; readonly expiresAtMs: number }[];
};

/**
 * Inserts a live key; call it in a transaction. Returns null, and changes nothing, when the key is
 * here already.
 */
export async function insertMovedKey(
  { write }: Pick<Database, 'write'>,
  digestKey: DigestKey,
  { id, accountId, text, hint, isDisabled, earlier = [], ...controls }: MovedKey,
  nowMs: number,
): Promise<KeyListing | null> {
  const digest = 'plain' in text ? keyDigest(digestKey, text.plain) : plainDigest(text.sha256);
  const row = await write
    .insertInto('api_keys')
    .values({
      id,
      account_id: accountId,
      mode: 'live',
      name: '',
      digest,
      secret_id: 'plain' in text ? digestKey.secretId : null,
      hint,
      created_at_ms: nowMs,
      disabled_at_ms: isDisabled ? nowMs : null,
      ...columnsOf(controls),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!row) return null;
  for (const { sha256, expiresAtMs } of earlier) {
    await write
      .insertInto('earlier_keys')
      .values({
        digest: plainDigest(sha256),
        key_id: id,
        secret_id: null,
        hint,
        expires_at_ms: expiresAtMs,
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  await write
    .insertInto('revisions')
    .values({ name: movedKeysRevision, value: 1 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return toListing(row);
}
