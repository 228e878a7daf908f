// API keys of accounts.
import type { keysEndpoints } from '../contract/admin/keys.ts';
import { ApiError } from '../../canonical/errors.ts';
import { assignKeyOrThrow } from '../budgets.ts';
import { changeKeyOrThrow, createKeyOrThrow, readControls, rotateKeyOrThrow } from '../keys.ts';
import { withAccount, withAccounts } from '../operator-keys.ts';
import { findKey, searchKeys } from '../../domain/keys/list-keys.ts';
import type { AdminHandlers } from './handlers.ts';
import { invalidAfter, pageRows, readAfter, toPage } from './paging.ts';
import { hourMs } from '../../lib/utc-time.ts';

export const keysHandlers: AdminHandlers<typeof keysEndpoints> = {
  'GET /keys': async ({ context, query }) => {
    const { account: accountId, mode, search: text, state: states, limit = pageRows } = query;
    const nowMs = context.gateway.clock.nowMs();
    const cursor = readAfter(query.after);
    const search = { accountId, mode, text, states, nowMs, limit, cursor };
    const found = await searchKeys(context.database, search);
    if (!found) throw invalidAfter();
    return toPage(await withAccounts(context, found.keys), found.next);
  },

  'POST /accounts/:account/keys': ({ context: { gateway, secrets }, params, body, once }) => {
    const { mode, owner_id: ownerId, ...fields } = body;
    const controls = readControls({ gateway }, fields);
    const order = { accountId: params.account, mode, ownerId, ...controls };
    return once.inTransaction(async ({ context, changes }) => {
      const made = await createKeyOrThrow(changes, secrets[0], order);
      return { key: await withAccount(context, made.listing), secret: made.key };
    });
  },

  'GET /keys/:key': async ({ context, params }) => {
    const listing = await findKey(context.database, { keyId: params.key });
    if (!listing) throw new ApiError('not_found', 'There is no such key.');
    return withAccount(context, listing);
  },

  'PATCH /keys/:key': async ({ context, params: { key: keyId }, body, changes }) => {
    const change = { action: 'update', controls: readControls(context, body) } as const;
    return withAccount(context, await changeKeyOrThrow(changes, { keyId }, change));
  },

  'PATCH /keys/:key/owner': async ({ context, params: { key: keyId }, body, changes }) =>
    withAccount(context, await assignKeyOrThrow(changes, { keyId, userId: body.user_id })),

  'POST /keys/:key/rotate': ({ context: { secrets }, params: { key: keyId }, body, once }) => {
    const rotation = { keyId, overlapMs: body.overlap_hours * hourMs };
    return once.inTransaction(async ({ context, changes }) => {
      const made = await rotateKeyOrThrow(changes, secrets[0], rotation);
      return { key: await withAccount(context, made.listing), secret: made.key };
    });
  },

  'POST /keys/:key/disable': async ({ context, params: { key: keyId }, changes }) =>
    withAccount(context, await changeKeyOrThrow(changes, { keyId }, { action: 'disable' })),

  'POST /keys/:key/enable': async ({ context, params: { key: keyId }, changes }) =>
    withAccount(context, await changeKeyOrThrow(changes, { keyId }, { action: 'enable' })),

  'POST /keys/:key/revoke': async ({ context, params: { key: keyId }, changes }) =>
    withAccount(context, await changeKeyOrThrow(changes, { keyId }, { action: 'revoke' })),
};
