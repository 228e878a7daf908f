// The keys of all accounts. What they may do is their owners' business; operators stop them.
import { readAccountNames } from '../../accounts/search-accounts.ts';
import { changedFields } from '../../audit/changed-fields.ts';
import { invalidRequest } from '../../canonical/errors.ts';
import type { OperatorKey, operatorKeysEndpoints } from '../../dashboard-contract/operator-keys.ts';
import { searchKeys, type KeyListing } from '../../keys/list-keys.ts';
import { revokeKey, setKeyDisabled, type KeyOutcome } from '../../keys/manage-keys.ts';
import type { ServerContext } from '../context.ts';
import { changed, type Changed, type Handlers } from './handlers.ts';
import { toKeys, unlessRevoked } from './keys.ts';

const pageRows = 50;

export const operatorKeysHandlers: Handlers<typeof operatorKeysEndpoints> = {
  'GET /operator/keys': async ({ context, query }) => {
    const { search: text, account: accountId, mode, state: states, limit = pageRows, cursor = null } = query;
    const nowMs = context.gateway.clock.nowMs();
    const page = await searchKeys(context.database, { accountId, mode, text, states, nowMs, limit, cursor });
    if (!page) throw invalidRequest('cursor', '`cursor` must be the `next_cursor` of the page before, unchanged.');
    return { data: await withAccounts(context, page.keys), next_cursor: page.next };
  },

  'POST /operator/keys/:key/disable': async ({ context, params }) =>
    told(context, 'key.disable', await setKeyDisabled(context.database, { keyId: params.key }, true)),

  'POST /operator/keys/:key/enable': async ({ context, params }) =>
    told(context, 'key.enable', await setKeyDisabled(context.database, { keyId: params.key }, false)),

  'POST /operator/keys/:key/revoke': async ({ context, params }) => {
    const outcome = await revokeKey(context.database, { keyId: params.key });
    if (outcome.kind === 'revoked') return changed((await withAccounts(context, [outcome.key]))[0]!, null);
    return told(context, 'key.revoke', outcome);
  },
};

async function told(context: ServerContext, action: string, outcome: KeyOutcome): Promise<Changed<OperatorKey>> {
  const { before, after } = unlessRevoked(outcome);
  const fields = changedFields(before, after);
  const [key] = await withAccounts(context, [after]);
  return changed(key!, fields && { action, subject: after.id, accountId: after.account_id, ...fields });
}

async function withAccounts(context: ServerContext, listings: readonly KeyListing[]): Promise<readonly OperatorKey[]> {
  const names = await readAccountNames(
    context.database,
    listings.map((listing) => listing.account_id),
  );
  const keys = await toKeys(context, listings);
  return keys.map((key, index) => {
    const { account_id } = listings[index]!;
    return { ...key, account_id, account_name: names.get(account_id) ?? '' };
  });
}
