// An account's API keys. Changes reach every gateway within seconds, through the counter that key
// stores poll.
import type { Config } from '../config/schema.ts';
import { findAccounts } from '../domain/accounts/manage-accounts.ts';
import { readKeyUses } from '../domain/activity/queries.ts';
import type { AuditedChanges } from '../domain/audit/audited-changes.ts';
import { ApiError, invalidCursor, invalidRequest } from '../canonical/errors.ts';
import { keyScopes } from '../canonical/key-scope.ts';
import type { Catalog } from '../domain/catalog/catalog.ts';
import { resolveKeyModels } from '../domain/catalog/resolve-key-model.ts';
import type { BodyOf } from './contract/endpoint.ts';
import type { Key, keysEndpoints } from './contract/keys.ts';
import { type KeyOwner, readKeyOwners } from '../domain/keys/key-owners.ts';
import {
  findKey,
  findLastUsedKey,
  keyStateOf,
  searchKeys,
  sortKeys,
  type KeyListing,
  type KeyLocator,
} from '../domain/keys/list-keys.ts';
import type { KeyChange, KeyControls, NewKey } from '../domain/keys/manage-keys.ts';
import { readKeySpending, type WindowSpending } from '../domain/ledger/reports/spending.ts';
import type { Membership } from '../domain/users/session.ts';
import { forecastMicros } from '../domain/ledger/forecast.ts';
import { dayStartMs, hourMs, monthStartMs, nextDayMs, nextMonthMs } from '../lib/utc-time.ts';
import { isAddressRange } from '../lib/addresses.ts';
import { cleanName } from '../lib/clean-name.ts';
import { isoTimeOf, parseZonedTime } from '../lib/iso-time.ts';
import { micros } from '../lib/money.ts';
import { bodyDaysProblem, changeKey, createKey, rotateKey } from './changes/keys.ts';
import type { DashboardContext } from './context.ts';
import { isAtLeast, requireProof, requireWithinBudget } from './access.ts';
import { audited, type Handlers } from './handlers.ts';

const pageRows = 50;
/** Rows of a list in another order, which has one page. */
const sortedRows = 100;

export const keysHandlers: Handlers<typeof keysEndpoints> = {
  'GET /accounts/:account/keys': async ({ context, account, query }) => {
    const { mode, search: text, state: states, sort, limit = pageRows, cursor = null } = query;
    const nowMs = context.gateway.clock.nowMs();
    const { accountId } = account;
    const filters = { accountId, mode, text, states, nowMs };
    if (sort !== undefined) {
      const sorting = { ...filters, order: sort, limit: sortedRows };
      const keys = await sortKeys(context.database, sorting);
      return { data: await toKeys(context, keys), next_cursor: null };
    }
    const page = await searchKeys(context.database, { ...filters, limit, cursor });
    if (!page) throw invalidCursor();
    return { data: await toKeys(context, page.keys), next_cursor: page.next };
  },

  'GET /accounts/:account/keys/:key': async ({ context, account, params }) => {
    const listing = await findKey(context.database, {
      keyId: params.key,
      accountId: account.accountId,
    });
    if (!listing) throw noSuchKey();
    return toKey(context, listing);
  },

  'GET /accounts/:account/key-last-used': async ({ context, account, query: { mode } }) => {
    const listing = await findLastUsedKey(context.database, {
      accountId: account.accountId,
      mode,
      nowMs: context.gateway.clock.nowMs(),
    });
    return { key: listing && (await toKey(context, listing)) };
  },

  'GET /accounts/:account/key-defaults': async ({ context, account }) => {
    const { limits, bodies } = context.gateway.config;
    const { requests_per_minute, tokens_per_minute, concurrent_requests } = limits;
    const { enabled, days_max, body_limit_bytes } = bodies;
    const [found] = await findAccounts(context.database, [account.accountId]);
    const retained = found?.retainResponses === true;
    return {
      requests_per_minute,
      tokens_per_minute,
      concurrent_requests,
      bodies: enabled ? { days_max, body_limit_bytes, retained } : null,
    };
  },

  'POST /accounts/:account/keys': async ({
    context,
    account,
    session: { userId },
    body,
    changes,
  }) => {
    const { accountId } = account;
    await requireProof(context, { userId, accountId });
    const { mode, ...fields } = body;
    requireOwnerToKeep(account, fields);
    const order = { accountId, mode, ownerId: userId, ...readControls(context, fields) };
    const made = await createKeyOrThrow(changes, context.secrets[0], order);
    return audited({ key: await toKey(context, made.listing), secret: made.key });
  },

  'PATCH /accounts/:account/keys/:key': async ({ context, account, params, body, changes }) => {
    requireOwnerToKeep(account, body);
    const change = { action: 'update', controls: readControls(context, body) } as const;
    const listing = await changeKeyOrThrow(changes, placeOf(account, params), change);
    return audited(await toKey(context, listing));
  },

  'POST /accounts/:account/keys/:key/rotate': async ({
    context,
    account,
    params,
    session: { userId },
    body,
    changes,
  }) => {
    await requireProof(context, { userId, accountId: account.accountId });
    await requireWithinBudget(context, account, { userId, keyId: params.key });
    const made = await rotateKeyOrThrow(changes, context.secrets[0], {
      ...placeOf(account, params),
      overlapMs: body.overlap_hours * hourMs,
    });
    return audited({ key: await toKey(context, made.listing), secret: made.key });
  },

  'POST /accounts/:account/keys/:key/disable': changeTo('disable'),
  'POST /accounts/:account/keys/:key/enable': changeTo('enable'),
  'POST /accounts/:account/keys/:key/revoke': changeTo('revoke'),
};

function changeTo(
  action: 'disable' | 'enable' | 'revoke',
): Handlers<typeof keysEndpoints>['POST /accounts/:account/keys/:key/disable'] {
  return async ({ context, account, params, changes }) => {
    const listing = await changeKeyOrThrow(changes, placeOf(account, params), { action });
    return audited(await toKey(context, listing));
  };
}

function placeOf({ accountId }: { readonly accountId: string }, params: { readonly key: string }) {
  return { keyId: params.key, accountId };
}

/** Throws ApiError 404, or 400 when its owner is no member. */
export async function createKeyOrThrow(...creation: Parameters<typeof createKey>): Promise<NewKey> {
  const outcome = await createKey(...creation);
  if (outcome.kind === 'unknown-account')
    throw new ApiError('not_found', 'There is no such account.');
  if (outcome.kind === 'no-such-member')
    throw invalidRequest(
      'owner_id',
      'The owner must be a member of the account. Send the id of one, or leave the field out.',
    );
  return outcome.made;
}

/** Throws ApiError 404 or 409. */
export async function rotateKeyOrThrow(...rotation: Parameters<typeof rotateKey>): Promise<NewKey> {
  const outcome = await rotateKey(...rotation);
  if (outcome.kind === 'unknown') throw noSuchKey();
  if (outcome.kind === 'revoked') throw revokedForGood();
  return outcome.made;
}

/** Returns the key after the change. Throws ApiError 404 or 409. */
export async function changeKeyOrThrow(
  changes: AuditedChanges,
  place: KeyLocator,
  change: KeyChange,
): Promise<KeyListing> {
  const outcome = await changeKey(changes, place, change);
  if (outcome.kind === 'unknown') throw noSuchKey();
  if (outcome.kind === 'revoked') throw revokedForGood();
  return outcome.after;
}

function revokedForGood(): ApiError {
  return new ApiError('conflict', 'This key is revoked for good. Create another.');
}

export function noSuchKey(): ApiError {
  return new ApiError('not_found', 'There is no such key in this account.');
}

/** Prompts and answers are kept only if an owner of the account wants it. Throws ApiError 403. */
function requireOwnerToKeep({ role }: Membership, { body_days: days }: ControlFields): void {
  if (days === undefined || days === null || isAtLeast(role, 'owner')) return;
  throw new ApiError(
    'not_permitted',
    'Only an owner of the account may have a key keep the bodies of its requests. Admins may switch it off.',
  );
}

type ControlFields = BodyOf<(typeof keysEndpoints)['PATCH /accounts/:account/keys/:key']>;

/** Throws ApiError 400 that names the wrong field. */
export function readControls(
  { gateway }: Pick<DashboardContext, 'gateway'>,
  fields: ControlFields,
): KeyControls {
  const { name, daily_cap_micros: dailyCap, monthly_cap_micros: monthlyCap, models } = fields;
  const { scopes, allowed_addresses: addresses, expires_at: expiresAt, body_days: days } = fields;
  return {
    ...(name !== undefined && { name: readName(name) }),
    ...(dailyCap !== undefined && { dailyCapMicros: dailyCap === null ? null : micros(dailyCap) }),
    ...(monthlyCap !== undefined && {
      monthlyCapMicros: monthlyCap === null ? null : micros(monthlyCap),
    }),
    ...(models !== undefined && { models: models && readModels(gateway.hosts.catalog, models) }),
    ...(scopes !== undefined && { scopes: scopes && keyScopes.filter((s) => scopes.includes(s)) }),
    requestsPerMinute: fields.requests_per_minute,
    tokensPerMinute: fields.tokens_per_minute,
    concurrentRequests: fields.concurrent_requests,
    ...(addresses !== undefined && { allowedAddresses: addresses && readAddresses(addresses) }),
    ...(expiresAt !== undefined && {
      expiresAtMs: expiresAt === null ? null : readExpiry(expiresAt, gateway.clock.nowMs()),
    }),
    ...(days !== undefined && { bodyDays: readBodyDays(gateway.config, days) }),
  };
}

function readBodyDays(config: Config, days: number | null): number | null {
  const problem = bodyDaysProblem(config, days);
  if (problem !== null) throw invalidRequest('body_days', `\`body_days\` ${problem}`);
  return days;
}

function readName(text: string): string {
  const name = cleanName(text);
  if (name === '') throw invalidRequest('name', 'Give the key a name.');
  return name;
}

function readModels(catalog: Catalog, names: readonly string[]): string[] {
  return resolveKeyModels(catalog, names, (name) =>
    invalidRequest('models', `There is no model '${name}'.`),
  );
}

export function readAddresses(texts: readonly string[]): string[] {
  const ranges = texts.map((text) => text.trim());
  const wrong = ranges.find((range) => !isAddressRange(range));
  if (wrong === undefined) return [...new Set(ranges)];
  throw invalidRequest(
    'allowed_addresses',
    `'${wrong}' is not an address. Enter addresses or ranges, such as 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32.`,
  );
}

export function readExpiry(text: string, nowMs: number): number {
  const timeMs = parseZonedTime(text);
  if (timeMs === null)
    throw invalidRequest(
      'expires_at',
      '`expires_at` must be a time with its zone, such as 2027-01-31T18:00:00Z.',
    );
  if (timeMs <= nowMs)
    throw invalidRequest(
      'expires_at',
      'The expiry must be in the future. To end the key now, revoke it.',
    );
  return timeMs;
}

export async function toKey(context: DashboardContext, listing: KeyListing): Promise<Key> {
  const [key] = await toKeys(context, [listing]);
  return key!;
}

export async function toKeys(
  { database, gateway }: DashboardContext,
  listings: readonly KeyListing[],
): Promise<readonly Key[]> {
  const nowMs = gateway.clock.nowMs();
  const ids = listings.map(({ id }) => id);
  const [spend, uses, owners] = [
    await readKeySpending(database.read, ids, nowMs),
    await readKeyUses(database, ids),
    await readKeyOwners(database, ids),
  ];
  return listings.map(({ account_id: _account, ...listing }) => ({
    ...listing,
    state: keyStateOf(listing, nowMs),
    ...spendOf(spend.get(listing.id), { createdAtMs: Date.parse(listing.created_at), nowMs }),
    last_used_at: isoTimeOf(uses.get(listing.id)),
    owner: ownerOf(owners.get(listing.id)),
  }));
}

/**
 * A key without spend or holds this month has no row. `createdAtMs`: since when it could be used, for
 * the forecast.
 */
export function spendOf(
  spending: WindowSpending | undefined,
  { createdAtMs, nowMs }: { readonly createdAtMs: number; readonly nowMs: number },
): Pick<Key, 'today' | 'this_month'> {
  const created = { createdAtMs, nowMs };
  const today = { startMs: dayStartMs(nowMs), endMs: nextDayMs(nowMs) };
  const month = { startMs: monthStartMs(nowMs), endMs: nextMonthMs(nowMs) };
  const [spentToday, spentMonth] = [spending?.dayMicros ?? 0, spending?.monthMicros ?? 0];
  return {
    today: {
      spent_micros: spentToday,
      held_micros: spending?.dayHeldMicros ?? 0,
      resets_at: new Date(today.endMs).toISOString(),
      forecast_micros: forecastMicros({ spentMicros: spentToday, ...today, ...created }),
    },
    this_month: {
      spent_micros: spentMonth,
      held_micros: spending?.monthHeldMicros ?? 0,
      resets_at: new Date(month.endMs).toISOString(),
      forecast_micros: forecastMicros({ spentMicros: spentMonth, ...month, ...created }),
    },
  };
}

function ownerOf(owner: KeyOwner | undefined): Key['owner'] {
  return owner ? { user_id: owner.userId, name: owner.name } : null;
}
