// Keys of the admin API, for operators.
import { ApiError } from '../canonical/errors.ts';
import type { operatorAdminKeysEndpoints } from './contract/operator-admin-keys.ts';
import { listAdminKeys } from '../domain/keys/admin-keys.ts';
import { createAdminKey, revokeAdminKey } from './changes/admin-keys.ts';
import { audited, type Handlers } from './handlers.ts';
import { readAddresses, readExpiry } from './keys.ts';
import { checkName } from './sign-in-fields.ts';

export const operatorAdminKeysHandlers: Handlers<typeof operatorAdminKeysEndpoints> = {
  'GET /operator/admin-keys': async ({ context }) => ({
    data: await listAdminKeys(context.database),
  }),

  'POST /operator/admin-keys': async ({ context, body, changes }) => {
    const { allowed_addresses: addresses = null, expires_at: expiresAt = null } = body;
    const { key, listing } = await createAdminKey(changes, {
      name: checkName(body.name),
      scopes: body.scopes,
      allowedAddresses: addresses && readAddresses(addresses),
      expiresAtMs: expiresAt === null ? null : readExpiry(expiresAt, context.gateway.clock.nowMs()),
    });
    return audited({ key: listing, secret: key });
  },

  'POST /operator/admin-keys/:key/revoke': async ({ params, changes }) => {
    const key = await revokeAdminKey(changes, params.key);
    if (!key) throw new ApiError('not_found', 'There is no such admin key.');
    return audited(key);
  },
};
