// An account's API keys. Changes reach every gateway within seconds, through the counter that key
// stores poll.
import type { Config } from '../../config/schema.ts';
import { findAccounts } from '../../domain/accounts/manage-accounts.ts';
import { readKeyUses } from '../../domain/activity/queries.ts';
import { ApiError, invalidRequest } from '../../canonical/errors.ts';
import { keyScopes } from '../../terms/key-scope.ts';
import type { Catalog } from '../../domain/catalog/catalog.ts';
import { resolveKeyModels } from '../../domain/catalog/resolve-key-model.ts';
import type { BodyOf } from '../contract/endpoint.ts';
import type { Key, keysEndpoints } from '../contract/keys.ts';
import { readKeyOwners } from '../../domain/keys/key-owners.ts';
import {
  findKey,
  findLastUsedKey,
  keyStateOf,
  searchKeys,
  sortKeys,
  type KeyListing,
} from '../../domain/keys/list-keys.ts';
import type { KeyControls } from '../../domain/keys/manage-keys.ts';
import { readKeySpending, type WindowSpending } from '../../domain/ledger/reports/spending.ts';
import type { Membership } from '../../domain/users/session.ts';
import { forecastMicros } from '../../domain/ledger/forecast.ts';
import { dayStartMs, hourMs, monthStartMs, nextDayMs, nextMonthMs } from '../../lib/utc-time.ts';
import { isAddressRange } from '../../lib/addresses.ts';
import { isoTimeOf, parseZonedTime } from '../../lib/iso-time.ts';
import { micros } from '../../lib/money.ts';
import {
  assignKey,
  bodyDaysProblem,
  changeKey,
  createKey,
  noSuchKey,
  rotateKey,
} from '../changes/keys.ts';
import type { ManagementContext } from '../context.ts';
import { isAtLeast, requireProof, requireWithinBudget } from '../access.ts';
import type { Caller, Handlers } from '../handlers.ts';
import { checkName } from '../sign-in/sign-in-fields.ts';

/** Rows of a list in another order, which has one page. */
const sortedRows = 100;

export const keysHandlers: Handlers<typeof keysEndpoints> = {
  'GET /accounts/:account/keys': async ({ context, params, query, page }) => {
    const { mode, search: text, state: states, sort } = query;
    const nowMs = context.gateway.clock.nowMs();
    const filters = { accountId: params.account, mode, text, states, nowMs };
    if (sort !== undefined) {
      const sorting = { ...filters, order: sort, limit: sortedRows };
      const keys = await sortKeys(context.database.read, sorting);
      return { rows: await toKeys(context, keys), next: null };
    }
    const found = await searchKeys(context.database.read, { ...filters, ...page });
    return found && { rows: await toKeys(context, found.keys), next: found.next };
  },

  'GET /accounts/:account/key-last-used': async ({ context, params, query: { mode } }) => {
    const nowMs = context.gateway.clock.nowMs();
    const which = { accountId: params.account, mode, nowMs };
    const listing = await findLastUsedKey(context.database.read, which);
    return { key: listing && (await toKey(context, listing)) };
  },

  'GET /accounts/:account/key-defaults': async ({ context, params }) => {
    const { limits, bodies, tuning } = context.gateway.config;
    const { requests_per_minute, tokens_per_minute, concurrent_requests } = limits;
    const { enabled, days_max } = bodies;
    const [found] = await findAccounts(context.database.read, [params.account]);
    const retained = found?.retainResponses === true;
    return {
      requests_per_minute,
      tokens_per_minute,
      concurrent_requests,
      bodies: enabled ? { days_max, body_limit_bytes: tuning.keptBodyBytes, retained } : null,
    };
  },

  'GET /operator/keys': async ({ context, query, page }) => {
    const { account: accountId, mode, search: text, state: states } = query;
    const nowMs = context.gateway.clock.nowMs();
    const search = { accountId, mode, text, states, nowMs, ...page };
    const found = await searchKeys(context.database.read, search);
    return found && { rows: await toKeys(context, found.keys), next: found.next };
  },

  'POST /accounts/:account/keys': async ({ context, params, account, session, ...call }) => {
    const { mode, owner_id: askedId, ...fields } = call.body;
    if (account && session) {
      if (askedId !== undefined)
        throw invalidRequest('owner_id', 'The key is yours. An owner can give it to a member.');
      await requireProof(context, { userId: session.userId, accountId: account.accountId });
      requireOwnerToKeep(account, fields);
    }
    const ownerId = account && session ? session.userId : askedId;
    const controls = readControls(context, fields);
    const order = { accountId: params.account, mode, ownerId, ...controls };
    return call.once.inTransaction(async ({ context: inside, changes }) => {
      const made = await createKey(changes, context.secrets[0], order);
      return { key: await toKey(inside, made.listing), secret: made.key };
    });
  },

  'GET /accounts/:account/keys/:key': async ({ context, params }) => {
    const listing = await findKey(context.database.read, placeOf(params));
    if (!listing) throw noSuchKey();
    return toKey(context, listing);
  },

  'PATCH /accounts/:account/keys/:key': async ({ context, account, params, body, changes }) => {
    if (account) requireOwnerToKeep(account, body);
    const change = { action: 'update', controls: readControls(context, body) } as const;
    return toKey(context, await changeKey(changes, placeOf(params), change));
  },

  'PATCH /accounts/:account/keys/:key/owner': async ({ context, params, body, changes }) => {
    const assigned = { ...placeOf(params), userId: body.user_id };
    return toKey(context, await assignKey(changes, assigned));
  },

  'POST /accounts/:account/keys/:key/rotate': async ({ context, account, params, ...call }) => {
    if (account && call.session) {
      const { userId } = call.session;
      await requireProof(context, { userId, accountId: account.accountId });
      await requireWithinBudget(context, account, { userId, keyId: params.key });
    }
    const rotation = { ...placeOf(params), overlapMs: call.body.overlap_hours * hourMs };
    return call.once.inTransaction(async ({ context: inside, changes }) => {
      const made = await rotateKey(changes, context.secrets[0], rotation);
      return { key: await toKey(inside, made.listing), secret: made.key };
    });
  },

  'POST /accounts/:account/keys/:key/disable': changeTo('disable'),
  'POST /accounts/:account/keys/:key/enable': changeTo('enable'),
  'POST /accounts/:account/keys/:key/revoke': changeTo('revoke'),
};

type KeyCall = Pick<Caller, 'changes'> & {
  readonly context: ManagementContext;
  readonly params: { readonly account?: string; readonly key: string };
};

function changeTo(action: 'disable' | 'enable' | 'revoke') {
  return async ({ context, params, changes }: KeyCall) =>
    toKey(context, await changeKey(changes, placeOf(params), { action }));
}

function placeOf({ account: accountId, key: keyId }: KeyCall['params']) {
  return { keyId, accountId };
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
function readControls(
  { gateway }: Pick<ManagementContext, 'gateway'>,
  fields: ControlFields,
): KeyControls {
  return {
    name: ifGiven(fields.name, (text) => checkName(text, 'Give the key a name.')),
    dailyCapMicros: ifGiven(fields.daily_cap_micros, micros),
    monthlyCapMicros: ifGiven(fields.monthly_cap_micros, micros),
    models: ifGiven(fields.models, (names) => readModels(gateway.hosts.catalog, names)),
    scopes: ifGiven(fields.scopes, (names) => keyScopes.filter((scope) => names.includes(scope))),
    ...readLimits(fields),
    expiresAtMs: ifGiven(fields.expires_at, (text) => readExpiry(text, gateway.clock.nowMs())),
    bodyDays: ifGiven(fields.body_days, (days) => checkBodyDays(gateway.config, days)),
    marksCache: fields.cache_marks,
  };
}

type LimitFields = Pick<
  ControlFields,
  'requests_per_minute' | 'tokens_per_minute' | 'concurrent_requests' | 'allowed_addresses'
>;

/** Returns the limits that keys and accounts have. Throws ApiError 400. */
export function readLimits(fields: LimitFields) {
  return {
    requestsPerMinute: fields.requests_per_minute,
    tokensPerMinute: fields.tokens_per_minute,
    concurrentRequests: fields.concurrent_requests,
    allowedAddresses: ifGiven(fields.allowed_addresses, readAddresses),
  };
}

/** Neither a field that is left out, nor null, which clears it, has anything to be read. */
export function ifGiven<Given, Value>(
  given: Given,
  read: (given: NonNullable<Given>) => Value,
): Value | Extract<Given, null | undefined> {
  return given === undefined || given === null
    ? (given as Extract<Given, null | undefined>)
    : read(given);
}

function checkBodyDays(config: Config, days: number): number {
  const problem = bodyDaysProblem(config, days);
  if (problem !== null) throw invalidRequest('body_days', `\`body_days\` ${problem}`);
  return days;
}

function readModels(catalog: Catalog, names: readonly string[]): string[] {
  return resolveKeyModels(catalog, names, (name) =>
    invalidRequest('models', `There is no model '${name}'. Choose one of the catalogue.`),
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
      '`expires_at` must be a time with its zone, such as 2030-01-31T18:00:00Z.',
    );
  if (timeMs <= nowMs)
    throw invalidRequest(
      'expires_at',
      'The expiry must be in the future. To end the key now, revoke it.',
    );
  return timeMs;
}

async function toKey(context: ManagementContext, listing: KeyListing): Promise<Key> {
  const [key] = await toKeys(context, [listing]);
  return key!;
}

async function toKeys(
  { database, gateway }: ManagementContext,
  listings: readonly KeyListing[],
): Promise<readonly Key[]> {
  const nowMs = gateway.clock.nowMs();
  const ids = listings.map(({ id }) => id);
  const [spend, uses, owners] = [
    await readKeySpending(database.read, ids, nowMs),
    await readKeyUses(database.read, ids),
    await readKeyOwners(database.read, ids),
  ];
  const accounts = await findAccounts(database.read, [
    ...new Set(listings.map((listing) => listing.account_id)),
  ]);
  const names = new Map(accounts.map(({ id, name }) => [id, name]));
  return listings.map((listing) => ({
    ...listing,
    account_name: names.get(listing.account_id) ?? '',
    state: keyStateOf(listing, nowMs),
    ...spendOf(spend.get(listing.id), { createdAtMs: Date.parse(listing.created_at), nowMs }),
    last_used_at: isoTimeOf(uses.get(listing.id)),
    owner: owners.get(listing.id) ?? null,
  }));
}

/**
 * A key without spend or holds this month has no row. `createdAtMs`: since when it could be used,
 * for the forecast.
 */
export function spendOf(
  spending: WindowSpending | undefined,
  { createdAtMs, nowMs }: { readonly createdAtMs: number; readonly nowMs: number },
): Pick<Key, 'today' | 'this_month'> {
  const { dayMicros = 0, dayHeldMicros = 0, monthMicros = 0, monthHeldMicros = 0 } = spending ?? {};
  const shown = (spentMicros: number, heldMicros: number, startMs: number, endMs: number) => ({
    spent_micros: spentMicros,
    held_micros: heldMicros,
    resets_at: new Date(endMs).toISOString(),
    forecast_micros: forecastMicros({ spentMicros, startMs, endMs, createdAtMs, nowMs }),
  });
  return {
    today: shown(dayMicros, dayHeldMicros, dayStartMs(nowMs), nextDayMs(nowMs)),
    this_month: shown(monthMicros, monthHeldMicros, monthStartMs(nowMs), nextMonthMs(nowMs)),
  };
}
