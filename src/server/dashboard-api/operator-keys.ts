// The keys of all accounts. What they may do is their owners' business; operators stop them.
import { readAccountNames } from '../../accounts/search-accounts.ts';
import { invalidRequest } from '../../canonical/errors.ts';
import type { OperatorKey, operatorKeysEndpoints } from '../../dashboard-contract/operator-keys.ts';
import type { Database } from '../../db/database.ts';
import { searchKeys, type KeyListing } from '../../keys/list-keys.ts';
import { revokeKey, setKeyDisabled } from '../../keys/manage-keys.ts';
import type { ServerContext } from '../context.ts';
import { audited, type Handlers } from './handlers.ts';
import { commitKeyChange, toKeys } from './keys.ts';

const pageRows = 50;

export const operatorKeysHandlers: Handlers<typeof operatorKeysEndpoints> = {
  'GET /operator/keys': async ({ context, query }) => {
    const { search: text, account: accountId, mode, state: states, limit = pageRows, cursor = null } = query;
    const nowMs = context.gateway.clock.nowMs();
    const page = await searchKeys(context.database, { accountId, mode, text, states, nowMs, limit, cursor });
    if (!page) throw invalidRequest('cursor', '`cursor` must be the `next_cursor` of the page before, unchanged.');
    return { data: await withAccounts(context, page.keys), next_cursor: page.next };
  },

  'POST /operator/keys/:key/disable': async ({ context, params, changes }) => {
    const change = (database: Database) => setKeyDisabled(database, { keyId: params.key }, true);
    return audited(await withAccount(context, await commitKeyChange(changes, 'key.disable', change)));
  },

  'POST /operator/keys/:key/enable': async ({ context, params, changes }) => {
    const change = (database: Database) => setKeyDisabled(database, { keyId: params.key }, false);
    return audited(await withAccount(context, await commitKeyChange(changes, 'key.enable', change)));
  },

  'POST /operator/keys/:key/revoke': async ({ context, params, changes }) => {
    const change = (database: Database) => revokeKey(database, { keyId: params.key });
    return audited(await withAccount(context, await commitKeyChange(changes, 'key.revoke', change)));
  },
};

async function withAccount(context: ServerContext, listing: KeyListing): Promise<OperatorKey> {
  const [key] = await withAccounts(context, [listing]);
  return key!;
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
