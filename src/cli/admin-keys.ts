// `tollgate admin-keys …`: keys of the admin API.
import type { AdminScope } from '../terms/admin-scope.ts';
import { type AdminKeyListing, listAdminKeys } from '../domain/keys/admin-keys.ts';
import { systemClock } from '../lib/clock.ts';
import { createAdminKey, revokeAdminKey } from '../management/changes/admin-keys.ts';
import { withInstallation } from './installation.ts';
import { printResult, tableOf, type JsonOption } from './output.ts';
import { orNull, type OrNone } from './parse.ts';

type NewKeyOptions = JsonOption & {
  readonly name: string;
  readonly scopes: readonly AdminScope[];
  readonly expires?: OrNone<number>;
  readonly allow?: OrNone<readonly string[]>;
};

export async function createAdminKeyCommand({
  name,
  scopes,
  expires,
  allow,
  ...options
}: NewKeyOptions): Promise<void> {
  await withInstallation('admin-keys create', async ({ changes }) => {
    const { key, listing } = await createAdminKey(changes, {
      name,
      scopes,
      expiresAtMs: expires === undefined ? null : orNull(expires),
      allowedAddresses: allow === undefined ? null : orNull(allow),
    });
    const { id } = listing;
    printResult(
      options,
      { id, key },
      `${key}\n\nThe admin key is shown only once. Its id is ${id}.`,
    );
  });
}

export async function listAdminKeysCommand(options: JsonOption): Promise<void> {
  await withInstallation('admin-keys list', async ({ database }) => {
    const keys = await listAdminKeys(database.read);
    const table = tableOf(keys, {
      'KEY ID': ({ id }) => id,
      KEY: ({ hint }) => hint,
      NAME: ({ name }) => name,
      SCOPES: ({ scopes }) => scopes.join(','),
      ADDRESSES: ({ allowed_addresses: addresses }) => addresses?.join(',') ?? 'all',
      STATE: stateOf,
    });
    printResult(options, keys, table);
  });
}

export async function revokeAdminKeyCommand(id: string, options: JsonOption): Promise<void> {
  await withInstallation('admin-keys revoke', async ({ changes }) => {
    const key = await revokeAdminKey(changes, id);
    printResult(options, key, `Admin key ${id} is revoked. Running gateways refuse it now.`);
  });
}

function stateOf({ revoked_at: revokedAt, expires_at: expiresAt }: AdminKeyListing): string {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'active';
  return Date.parse(expiresAt) <= systemClock.nowMs() ? 'expired' : `until ${expiresAt}`;
}
