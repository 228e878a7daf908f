// The keys of all accounts. Owners set their limits; operators disable, enable and revoke them.
import { findAccounts } from '../domain/accounts/manage-accounts.ts';
import { invalidCursor } from '../canonical/errors.ts';
import type { OperatorKey, operatorKeysEndpoints } from './contract/operator-keys.ts';
import { searchKeys, type KeyListing } from '../domain/keys/list-keys.ts';
import type { DashboardContext } from './context.ts';
import { audited, type Handlers } from './handlers.ts';
import { changeKeyOrThrow, toKeys } from './keys.ts';

const pageRows = 50;

export const operatorKeysHandlers: Handlers<typeof operatorKeysEndpoints> = {
  'GET /operator/keys': async ({ context, query }) => {
    const { account: accountId, mode, search: text, state: states } = query;
    const { limit = pageRows, cursor = null } = query;
    const nowMs = context.gateway.clock.nowMs();
    const filters = { accountId, mode, text, states, nowMs };
    const page = await searchKeys(context.database, { ...filters, limit, cursor });
    if (!page) throw invalidCursor();
    return { data: await withAccounts(context, page.keys), next_cursor: page.next };
  },

  'POST /operator/keys/:key/disable': changeTo('disable'),
  'POST /operator/keys/:key/enable': changeTo('enable'),
  'POST /operator/keys/:key/revoke': changeTo('revoke'),
};

function changeTo(
  action: 'disable' | 'enable' | 'revoke',
): Handlers<typeof operatorKeysEndpoints>['POST /operator/keys/:key/disable'] {
  return async ({ context, params, changes }) => {
    const listing = await changeKeyOrThrow(changes, { keyId: params.key }, { action });
    return audited(await withAccount(context, listing));
  };
}

export async function withAccount(
  context: DashboardContext,
  listing: KeyListing,
): Promise<OperatorKey> {
  const [key] = await withAccounts(context, [listing]);
  return key!;
}

export async function withAccounts(
  context: DashboardContext,
  listings: readonly KeyListing[],
): Promise<readonly OperatorKey[]> {
  const ids = new Set(listings.map((listing) => listing.account_id));
  const accounts = await findAccounts(context.database, [...ids]);
  const names = new Map(accounts.map(({ id, name }) => [id, name]));
  const keys = await toKeys(context, listings);
  return keys.map((key, index) => {
    const { account_id } = listings[index]!;
    return { ...key, account_id, account_name: names.get(account_id) ?? '' };
  });
}
