// The search of the command palette. Each part reads a few rows.
import type { searchEndpoints } from '../contract/search.ts';
import { findAccounts } from '../../domain/accounts/manage-accounts.ts';
import { searchAccounts } from '../../domain/accounts/search-accounts.ts';
import type { Catalog } from '../../domain/catalog/catalog.ts';
import { keyStateOf, searchKeys } from '../../domain/keys/list-keys.ts';
import { findAccountOf } from '../../domain/activity/queries.ts';
import { searchUsers } from '../../domain/users/search-users.ts';
import type { ManagementContext } from '../context.ts';
import type { Handlers } from '../handlers.ts';
import { findRequest } from './requests.ts';

const rowsMax = 5;

export const searchHandlers: Handlers<typeof searchEndpoints> = {
  'GET /accounts/:account/search': async ({ context, account: { accountId }, query: { q } }) => {
    const text = q.trim();
    const nowMs = context.gateway.clock.nowMs();
    const found = await searchKeys(context.database.read, {
      accountId,
      text,
      nowMs,
      limit: rowsMax,
      cursor: null,
    });
    const { keys } = found!;
    return {
      requests: await findRequests(context, requestIdIn(text), accountId),
      keys: keys.map((key) => ({
        id: key.id,
        mode: key.mode,
        name: key.name,
        hint: key.hint,
        state: keyStateOf(key, nowMs),
      })),
      models: findModels(context.gateway.hosts.catalog, text),
    };
  },

  'GET /operator/search': async ({ context, query: { q } }) => {
    const { database } = context;
    const search = { text: q.trim(), limit: rowsMax, cursor: null };
    const requestId = requestIdIn(search.text);
    const accountId = requestId && (await findAccountOf(database.read, requestId));
    const [account] = accountId ? await findAccounts(database.read, [accountId]) : [];
    const requests = account ? await findRequests(context, requestId, account.id) : [];
    const found = await searchAccounts(database, search);
    const { users } = await searchUsers(database.read, search);
    return {
      requests: requests.map((request) => ({
        ...request,
        account: { id: account!.id, name: account!.name },
      })),
      accounts: found!.accounts.map(({ id, name }) => ({ id, name })),
      users: users.map(({ id, name, email }) => ({ id, name, email })),
    };
  },
};

/** An id of `newIdWithPrefix('req')`, alone or in a pasted line such as `X-Request-Id: req_…`. */
const requestId = /(?:^|[^a-z0-9])(?:req_)?([0-9a-hjkmnp-tv-z]{26})(?![a-z0-9])/i;

function requestIdIn(text: string): string | null {
  const id = requestId.exec(text)?.[1]?.toLowerCase();
  return id === undefined ? null : `req_${id}`;
}

async function findRequests(context: ManagementContext, id: string | null, accountId: string) {
  const found = id === null ? null : await findRequest(context, accountId, id);
  if (!found) return [];
  const { request_id, mode, created_at, outcome } = found;
  return [{ id: request_id, mode, created_at, outcome }];
}

function findModels(catalog: Catalog, text: string) {
  const words = text.toLowerCase().split(/\s+/);
  const matches = (names: readonly string[]) => {
    const name = names.join(' ').toLowerCase();
    return words.every((word) => name.includes(word));
  };
  return [...catalog.list(), ...catalog.images.list()]
    .filter(({ id, displayName }) => matches([id, displayName]))
    .slice(0, rowsMax)
    .map(({ id, displayName: name }) => ({ id, name }));
}
