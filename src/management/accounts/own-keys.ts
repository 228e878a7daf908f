// Keys of providers that an account brings.
import { readKeyUses } from '../../domain/activity/queries.ts';
import { digestOfAddress, listOwnKeys, type OwnKeyListing } from '../../domain/keys/own-keys.ts';
import { isoTimeOf } from '../../lib/iso-time.ts';
import { microsFromUsd } from '../../lib/money.ts';
import { requireProof } from '../access.ts';
import { addOwnKey, changeOwnKey, ownKeyProviders, removeOwnKey } from '../changes/own-keys.ts';
import type { ManagementContext } from '../context.ts';
import type { ownKeysEndpoints } from '../contract/own-keys.ts';
import type { Handlers } from '../handlers.ts';

export const ownKeysHandlers: Handlers<typeof ownKeysEndpoints> = {
  'GET /accounts/:account/own-keys': async ({ context, params }) => {
    const { database, gateway } = context;
    const { pricing } = gateway.config;
    return {
      keys: await shown(context, await listOwnKeys(database.read, params.account)),
      providers: ownKeyProviders(gateway.config),
      percent: pricing.own_key_percent,
      fee_micros: microsFromUsd(pricing.own_key_fee),
    };
  },

  'POST /accounts/:account/own-keys': async ({ context, params, body, session, changes }) => {
    const { secrets, gateway } = context;
    const { account: accountId } = params;
    if (session) await requireProof(context, { userId: session.userId, accountId });
    const { provider, api_key: apiKey, order = 'before' } = body;
    const parts = { secrets, config: gateway.config };
    const added = await addOwnKey(changes, parts, { accountId, provider, apiKey, order });
    const [listing] = await shown(context, [added]);
    return listing!;
  },

  'PATCH /accounts/:account/own-keys/:ownKey': async ({ context, params, body, changes }) => {
    const place = { accountId: params.account, id: params.ownKey };
    const changed = await changeOwnKey(changes, place, body);
    const [listing] = await shown(context, [changed]);
    return listing!;
  },

  'DELETE /accounts/:account/own-keys/:ownKey': ({ params, changes }) =>
    removeOwnKey(changes, { accountId: params.account, id: params.ownKey }),
};

async function shown(
  { database, gateway }: Pick<ManagementContext, 'database' | 'gateway'>,
  keys: readonly OwnKeyListing[],
) {
  const allowed = ownKeyProviders(gateway.config);
  const uses = await readKeyUses(
    database.read,
    keys.map(({ id }) => id),
  );
  return keys.map(({ address_digest: address, ...key }) => ({
    ...key,
    is_usable:
      allowed.includes(key.provider) &&
      digestOfAddress(gateway.config.providers[key.provider]!.base_url) === address,
    last_used_at: isoTimeOf(uses.get(key.id)),
  }));
}
