// An account's API keys. Changes reach every gateway within seconds, through the counter that key
// stores poll.
import type { Config } from '../../config/schema.ts';
import { findAccounts } from '../../domain/accounts/manage-accounts.ts';
import { readKeyUses } from '../../domain/activity/queries.ts';
import { ApiError, invalidRequest, noSuch } from '../../canonical/errors.ts';
import { keyScopes } from '../../terms/key-scope.ts';
import type { Catalog } from '../../domain/catalog/catalog.ts';
import { resolveKeyModels } from '../../domain/catalog/resolve-key-model.ts';
import type { BodyOf } from '../contract/endpoint.ts';
import type { Key, keysEndpoints, OperatorKey } from '../contract/keys.ts';
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

  'GET /accounts/:account/keys/:key': async ({ context, params }) => {
    const listing = await findKey(context.database.read, placeOf(params));
    if (!listing) throw noSuchKey();
    return toKey(context, listing);
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

  'POST /accounts/:account/keys': async ({ context, account, session, body, changes }) => {
    const { accountId } = account;
    const { userId } = session;
    await requireProof(context, { userId, accountId });
    const { mode, ...fields } = body;
    requireOwnerToKeep(account, fields);
    const order = { accountId, mode, ownerId: userId, ...readControls(context, fields) };
    const made = await createKey(changes, context.secrets[0], order);
    return { key: await toKey(context, made.listing), secret: made.key };
  },

  'POST /operator/accounts/:account/keys': ({ context: { gateway, secrets }, ...call }) => {
    const { mode, owner_id: ownerId, ...fields } = call.body;
    const controls = readControls({ gateway }, fields);
    const order = { accountId: call.params.account, mode, ownerId, ...controls };
    return call.once.inTransaction(async ({ context, changes }) => {
      const made = await createKey(changes, secrets[0], order);
      return { key: await withAccount(context, made.listing), secret: made.key };
    });
  },

  'PATCH /accounts/:account/keys/:key': async ({ context, account, params, body, changes }) => {
    requireOwnerToKeep(account, body);
    const change = { action: 'update', controls: readControls(context, body) } as const;
    return toKey(context, await changeKey(changes, placeOf(params), change));
  },

  'PATCH /admin/v1/keys/:key': async ({ context, params, body, changes }) => {
    const change = { action: 'update', controls: readControls(context, body) } as const;
    return withAccount(context, await changeKey(changes, placeOf(params), change));
  },

  'PATCH /accounts/:account/keys/:key/owner': assignTo(toKey),
  'PATCH /admin/v1/keys/:key/owner': assignTo(withAccount),

  'POST /accounts/:account/keys/:key/rotate': async ({ context, account, params, ...call }) => {
    const { userId } = call.session;
    await requireProof(context, { userId, accountId: account.accountId });
    await requireWithinBudget(context, account, { userId, keyId: params.key });
    const rotation = { ...placeOf(params), overlapMs: call.body.overlap_hours * hourMs };
    const made = await rotateKey(call.changes, context.secrets[0], rotation);
    return { key: await toKey(context, made.listing), secret: made.key };
  },

  'POST /admin/v1/keys/:key/rotate': ({ context: { secrets }, params, body, once }) => {
    const rotation = { ...placeOf(params), overlapMs: body.overlap_hours * hourMs };
    return once.inTransaction(async ({ context, changes }) => {
      const made = await rotateKey(changes, secrets[0], rotation);
      return { key: await withAccount(context, made.listing), secret: made.key };
    });
  },

  'POST /accounts/:account/keys/:key/disable': changeTo('disable', toKey),
  'POST /accounts/:account/keys/:key/enable': changeTo('enable', toKey),
  'POST /accounts/:account/keys/:key/revoke': changeTo('revoke', toKey),

  'GET /operator/keys': async ({ context, query, page }) => {
    const { account: accountId, mode, search: text, state: states } = query;
    const nowMs = context.gateway.clock.nowMs();
    const search = { accountId, mode, text, states, nowMs, ...page };
    const found = await searchKeys(context.database.read, search);
    return found && { rows: await withAccounts(context, found.keys), next: found.next };
  },

  'GET /admin/v1/keys/:key': async ({ context, params }) => {
    const listing = await findKey(context.database.read, placeOf(params));
    if (!listing) throw noSuch('key');
    return withAccount(context, listing);
  },

  'POST /operator/keys/:key/disable': changeTo('disable', withAccount),
  'POST /operator/keys/:key/enable': changeTo('enable', withAccount),
  'POST /operator/keys/:key/revoke': changeTo('revoke', withAccount),
};

type KeyCall = Pick<Caller, 'changes'> & {
  readonly context: ManagementContext;
  readonly params: { readonly account?: string; readonly key: string };
};
/** Writes a key for the account's users, or for operators and admin keys, who see the account too. */
type Show<Shown> = (context: ManagementContext, listing: KeyListing) => Promise<Shown>;

function changeTo<Shown>(action: 'disable' | 'enable' | 'revoke', show: Show<Shown>) {
  return async ({ context, params, changes }: KeyCall) =>
    show(context, await changeKey(changes, placeOf(params), { action }));
}

function assignTo<Shown>(show: Show<Shown>) {
  return async ({ context, params, ...call }: KeyCall & { body: { user_id: string | null } }) =>
    show(context, await assignKey(call.changes, { ...placeOf(params), userId: call.body.user_id }));
}

function placeOf({ account: accountId, key: keyId }: KeyCall['params']) {
  return { keyId, accountId };
}

async function withAccount(context: ManagementContext, listing: KeyListing): Promise<OperatorKey> {
  const [key] = await withAccounts(context, [listing]);
  return key!;
}

async function withAccounts(
  context: ManagementContext,
  listings: readonly KeyListing[],
): Promise<readonly OperatorKey[]> {
  const ids = new Set(listings.map((listing) => listing.account_id));
  const accounts = await findAccounts(context.database.read, [...ids]);
  const names = new Map(accounts.map(({ id, name }) => [id, name]));
  const keys = await toKeys(context, listings);
  return keys.map((key, index) => {
    const { account_id } = listings[index]!;
    return { ...key, account_id, account_name: names.get(account_id) ?? '' };
  });
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
  return listings.map(({ account_id: _account, ...listing }) => ({
    ...listing,
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
