// `tollgate admin-keys …`: keys of the admin API.
import type { AdminScope } from '../terms/admin-scope.ts';
import { type AdminKeyListing, listAdminKeys } from '../domain/keys/admin-keys.ts';
import { systemClock } from '../lib/clock.ts';
import { createAdminKey, revokeAdminKey } from '../management/changes/admin-keys.ts';
import type { Installation } from './installation.ts';
import { tableOf, type Output } from './output.ts';
import { none, orNull, type OrNone } from './parse.ts';

type NewKeyOptions = {
  readonly name: string;
  readonly scopes: readonly AdminScope[];
  readonly expires?: OrNone<number>;
  readonly allow?: OrNone<readonly string[]>;
};

export async function createAdminKeyCommand(
  { changes }: Installation,
  { name, scopes, expires = none, allow = none }: NewKeyOptions,
): Promise<Output> {
  const { key, listing } = await createAdminKey(changes, {
    name,
    scopes,
    expiresAtMs: orNull(expires),
    allowedAddresses: orNull(allow),
  });
  const { id } = listing;
  return [{ id, key }, `${key}\n\nThe admin key is shown only once. Its id is ${id}.`];
}

export async function listAdminKeysCommand({ database }: Installation): Promise<Output> {
  const keys = await listAdminKeys(database.read);
  const table = tableOf(keys, {
    'KEY ID': ({ id }) => id,
    KEY: ({ hint }) => hint,
    NAME: ({ name }) => name,
    SCOPES: ({ scopes }) => scopes.join(','),
    ADDRESSES: ({ allowed_addresses: addresses }) => addresses?.join(',') ?? 'all',
    STATE: stateOf,
  });
  return [keys, table];
}

export async function revokeAdminKeyCommand(
  { changes }: Installation,
  id: string,
): Promise<Output> {
  const key = await revokeAdminKey(changes, id);
  return [key, `Admin key ${id} is revoked. Running gateways refuse it now.`];
}

function stateOf({ revoked_at: revokedAt, expires_at: expiresAt }: AdminKeyListing): string {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'active';
  return Date.parse(expiresAt) <= systemClock.nowMs() ? 'expired' : `until ${expiresAt}`;
}
