// Keys of the admin API, for operators.
import { listAdminKeys } from '../../domain/keys/admin-keys.ts';
import { createAdminKey, revokeAdminKey } from '../changes/admin-keys.ts';
import type { adminKeysEndpoints } from '../contract/admin-keys.ts';
import type { Handlers } from '../handlers.ts';
import { ifGiven, readAddresses, readExpiry } from './keys.ts';
import { checkName } from '../sign-in/sign-in-fields.ts';

export const adminKeysHandlers: Handlers<typeof adminKeysEndpoints> = {
  'GET /operator/admin-keys': ({ context }) => listAdminKeys(context.database.read),

  'POST /operator/admin-keys': async ({ context, body, changes }) => {
    const { allowed_addresses: addresses = null, expires_at: expiresAt = null } = body;
    const nowMs = context.gateway.clock.nowMs();
    const { key, listing } = await createAdminKey(changes, {
      name: checkName(body.name),
      scopes: body.scopes,
      allowedAddresses: ifGiven(addresses, readAddresses),
      expiresAtMs: ifGiven(expiresAt, (text) => readExpiry(text, nowMs)),
    });
    return { key: listing, secret: key };
  },

  'POST /operator/admin-keys/:key/revoke': ({ params, changes }) =>
    revokeAdminKey(changes, params.key),
};
