// The API keys of an account. What is changed takes effect on every gateway within seconds, by the counter that key stores poll.
import { readKeyUses } from '../../activity/key-uses.ts';
import type { AuditedChanges } from '../../audit/audited-changes.ts';
import { changedFields } from '../../audit/changed-fields.ts';
import { ApiError, invalidRequest } from '../../canonical/errors.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { resolveKeyModel } from '../../catalog/resolve-key-model.ts';
import type { BodyOf } from '../../dashboard-contract/endpoint.ts';
import type { Key, keysEndpoints } from '../../dashboard-contract/keys.ts';
import type { Database } from '../../db/database.ts';
import { digestKeyFrom } from '../../keys/key-text.ts';
import { findKey, keyStateOf, searchKeys, type KeyListing } from '../../keys/list-keys.ts';
import { createKey, revokeKey, setKeyDisabled, updateKey, type KeyControls, type KeyOutcome } from '../../keys/manage-keys.ts';
import { readKeySpending, type KeySpending } from '../../ledger/spending.ts';
import { nextDayMs, nextMonthMs } from '../../ledger/window.ts';
import { isAddressRange } from '../../lib/addresses.ts';
import { micros } from '../../lib/money.ts';
import type { ServerContext } from '../context.ts';
import { requireProof } from './access.ts';
import { audited, type Handlers } from './handlers.ts';

const pageRows = 50;

export const keysHandlers: Handlers<typeof keysEndpoints> = {
  'GET /accounts/:account/keys': async ({ context, account, query }) => {
    const { mode, search: text, state: states, limit = pageRows, cursor = null } = query;
    const nowMs = context.gateway.clock.nowMs();
    const { accountId } = account;
    const page = await searchKeys(context.database, { accountId, mode, text, states, nowMs, limit, cursor });
    if (!page) throw invalidRequest('cursor', '`cursor` must be the `next_cursor` of the page before, unchanged.');
    return { data: await toKeys(context, page.keys), next_cursor: page.next };
  },

  'GET /accounts/:account/keys/:key': async ({ context, account, params }) => {
    const listing = await findKey(context.database, { keyId: params.key, accountId: account.accountId });
    if (!listing) throw noSuchKey();
    return toKey(context, listing);
  },

  'GET /accounts/:account/key-defaults': async ({ context: { gateway } }) => {
    const { requests_per_minute, tokens_per_minute, concurrent_requests } = gateway.config.limits;
    return { requests_per_minute, tokens_per_minute, concurrent_requests };
  },

  'POST /accounts/:account/keys': async ({ context, account: { accountId }, session: { userId }, body, changes }) => {
    await requireProof(context, { userId, accountId });
    const { mode, ...fields } = body;
    const controls = readControls(context, fields);
    const { listing, key: secret } = await changes.commit(async (database) => {
      const made = await createKey(database, digestKeyFrom(context.secrets[0]), { accountId, mode, ...controls });
      if (!made) throw new ApiError('not_found', 'There is no such account.');
      return { result: made, change: { action: 'key.create', subject: made.id, before: null, after: made.listing } };
    });
    return audited({ key: await toKey(context, listing), secret });
  },

  'PATCH /accounts/:account/keys/:key': async ({ context, account, params, body, changes }) => {
    const controls = readControls(context, body);
    const change = (database: Database) => updateKey(database, placeOf(account, params), controls);
    return audited(await toKey(context, await commitKeyChange(changes, 'key.update', change)));
  },

  'POST /accounts/:account/keys/:key/disable': async ({ context, account, params, changes }) => {
    const change = (database: Database) => setKeyDisabled(database, placeOf(account, params), true);
    return audited(await toKey(context, await commitKeyChange(changes, 'key.disable', change)));
  },

  'POST /accounts/:account/keys/:key/enable': async ({ context, account, params, changes }) => {
    const change = (database: Database) => setKeyDisabled(database, placeOf(account, params), false);
    return audited(await toKey(context, await commitKeyChange(changes, 'key.enable', change)));
  },

  'POST /accounts/:account/keys/:key/revoke': async ({ context, account, params, changes }) => {
    const change = (database: Database) => revokeKey(database, placeOf(account, params));
    return audited(await toKey(context, await commitKeyChange(changes, 'key.revoke', change)));
  },
};

function placeOf({ accountId }: { readonly accountId: string }, params: { readonly key: string }) {
  return { keyId: params.key, accountId };
}

/** Returns the key as it is then; revoking one that is revoked changes nothing. Throws ApiError 404 or 409. */
export function commitKeyChange(
  changes: AuditedChanges,
  action: 'key.update' | 'key.disable' | 'key.enable' | 'key.revoke',
  change: (database: Database) => Promise<KeyOutcome>,
): Promise<KeyListing> {
  return changes.commit(async (database) => {
    const outcome = await change(database);
    if (outcome.kind === 'unknown') throw noSuchKey();
    if (outcome.kind === 'revoked') {
      if (action === 'key.revoke') return { result: outcome.key, change: null };
      throw new ApiError('conflict', 'This key is revoked, and that is for good. Make another.');
    }
    const { before, after } = outcome;
    const fields = changedFields(before, after);
    return { result: after, change: fields && { action, subject: after.id, accountId: after.account_id, ...fields } };
  });
}

function noSuchKey(): ApiError {
  return new ApiError('not_found', 'There is no such key in this account.');
}

type ControlFields = BodyOf<(typeof keysEndpoints)['PATCH /accounts/:account/keys/:key']>;

/** Throws ApiError 400 with the field at fault. */
function readControls({ gateway }: ServerContext, fields: ControlFields): KeyControls {
  const { name, daily_cap_micros: dailyCap, monthly_cap_micros: monthlyCap, models } = fields;
  const { allowed_addresses: addresses, expires_at: expiresAt } = fields;
  return {
    ...(name !== undefined && { name: readName(name) }),
    ...(dailyCap !== undefined && { dailyCapMicros: dailyCap === null ? null : micros(dailyCap) }),
    ...(monthlyCap !== undefined && { monthlyCapMicros: monthlyCap === null ? null : micros(monthlyCap) }),
    ...(models !== undefined && { models: models && readModels(gateway.catalog, models) }),
    requestsPerMinute: fields.requests_per_minute,
    tokensPerMinute: fields.tokens_per_minute,
    concurrentRequests: fields.concurrent_requests,
    ...(addresses !== undefined && { allowedAddresses: addresses && readAddresses(addresses) }),
    ...(expiresAt !== undefined && { expiresAtMs: expiresAt === null ? null : readExpiry(expiresAt, gateway.clock.nowMs()) }),
  };
}

function readName(text: string): string {
  const name = text.trim();
  if (name === '') throw invalidRequest('name', 'Give the key a name, to know it again by.');
  return name;
}

/** Kept as catalogue ids, so that an alias in the list allows just what it stands for today. */
function readModels(catalog: Catalog, names: readonly string[]): string[] {
  const ids = names.map((name) => {
    const id = resolveKeyModel(catalog, name);
    if (id === null) throw invalidRequest('models', `There is no model '${name}'.`);
    return id;
  });
  return [...new Set(ids)];
}

export function readAddresses(texts: readonly string[]): string[] {
  const ranges = texts.map((text) => text.trim());
  const wrong = ranges.find((range) => !isAddressRange(range));
  if (wrong === undefined) return [...new Set(ranges)];
  throw invalidRequest(
    'allowed_addresses',
    `'${wrong}' is no address. Write addresses or ranges, such as 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32.`,
  );
}

function readExpiry(text: string, nowMs: number): number {
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/.test(text);
  const timeMs = isTime ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(timeMs))
    throw invalidRequest('expires_at', '`expires_at` must be a time with its zone, such as 2027-01-31T18:00:00Z.');
  if (timeMs <= nowMs) throw invalidRequest('expires_at', 'The expiry must be in the future. To end the key now, revoke it.');
  return timeMs;
}

async function toKey(context: ServerContext, listing: KeyListing): Promise<Key> {
  const [key] = await toKeys(context, [listing]);
  return key!;
}

export async function toKeys({ database, gateway }: ServerContext, listings: readonly KeyListing[]): Promise<readonly Key[]> {
  const nowMs = gateway.clock.nowMs();
  const ids = listings.map(({ id }) => id);
  const [spend, uses] = [await readKeySpending(database.read, ids, nowMs), await readKeyUses(database, ids)];
  return listings.map(({ account_id: _account, ...listing }) => ({
    ...listing,
    state: keyStateOf(listing, nowMs),
    ...spendOf(spend.get(listing.id), nowMs),
    last_used_at: isoOf(uses.get(listing.id)),
  }));
}

/** A key that has neither spent nor held anything this month has none. */
function spendOf(spending: KeySpending | undefined, nowMs: number): Pick<Key, 'today' | 'this_month'> {
  return {
    today: {
      spent_micros: spending?.dayMicros ?? 0,
      held_micros: spending?.dayHeldMicros ?? 0,
      resets_at: new Date(nextDayMs(nowMs)).toISOString(),
    },
    this_month: {
      spent_micros: spending?.monthMicros ?? 0,
      held_micros: spending?.monthHeldMicros ?? 0,
      resets_at: new Date(nextMonthMs(nowMs)).toISOString(),
    },
  };
}

function isoOf(timeMs: number | undefined): string | null {
  return timeMs === undefined ? null : new Date(timeMs).toISOString();
}
