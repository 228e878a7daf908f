// Reads API keys for lists: all keys, one key, or a search.
import { type Selectable, type SelectQueryBuilder, sql, type SqlBool } from 'kysely';
import type { KeyScope } from '../../terms/key-scope.ts';
import type { Mode } from '../../terms/mode.ts';
import { contains } from '../../db/contains.ts';
import { readNewestFirst } from '../../db/newest-first.ts';
import type { Db, Tables } from '../../db/schema.ts';
import { dayOf } from '../../lib/utc-time.ts';
import { isoTimeOf } from '../../lib/iso-time.ts';
import { readList } from '../../db/columns.ts';

/** A key as it is listed. Only `createKey` returns the key itself. */
export type KeyListing = ReturnType<typeof toListing>;

type KeyState = 'active' | 'disabled' | 'expired' | 'revoked';

/** Returns the first state that applies, in this order: revoked, disabled, expired. */
export function keyStateOf(
  key: Pick<KeyListing, 'revoked_at' | 'disabled_at' | 'expires_at'>,
  nowMs: number,
): KeyState {
  if (key.revoked_at !== null) return 'revoked';
  if (key.disabled_at !== null) return 'disabled';
  return key.expires_at !== null && Date.parse(key.expires_at) <= nowMs ? 'expired' : 'active';
}

/** Finds a key among all, or only in one account if `accountId` is set. */
export type KeyLocator = { readonly keyId: string; readonly accountId?: string };

/** Returns all keys, or one account's, newest first. */
export async function listKeys(read: Db, accountId: string | null): Promise<KeyListing[]> {
  let query = read
    .selectFrom('api_keys')
    .selectAll()
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc');
  if (accountId !== null) query = query.where('account_id', '=', accountId);
  return (await query.execute()).map(toListing);
}

/** Returns null when the key does not exist. */
export async function findKey(
  read: Db,
  { keyId, accountId }: KeyLocator,
): Promise<KeyListing | null> {
  let query = read.selectFrom('api_keys').selectAll().where('id', '=', keyId);
  if (accountId !== undefined) query = query.where('account_id', '=', accountId);
  const row = await query.executeTakeFirst();
  return row ? toListing(row) : null;
}

/** Returns the active key that was used last, else the newest; null when no key is active. */
export async function findLastUsedKey(
  read: Db,
  { accountId, mode, nowMs }: Required<Pick<KeySearch, 'accountId' | 'mode' | 'nowMs'>>,
): Promise<KeyListing | null> {
  const row = await read
    .selectFrom('api_keys')
    .leftJoin('key_uses', 'key_uses.key_id', 'api_keys.id')
    .selectAll('api_keys')
    .where('account_id', '=', accountId)
    .where('mode', '=', mode)
    .where(inState('active', nowMs))
    .orderBy(sql`coalesce(last_used_at_ms, 0)`, 'desc')
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? toListing(row) : null;
}

export type KeySearch = {
  /** Absent: all accounts. */
  readonly accountId?: string;
  readonly mode?: Mode;
  /** A part of the name or hint, ignoring case, or the whole id. */
  readonly text?: string;
  /** Absent: any state. */
  readonly states?: readonly KeyState[];
  readonly nowMs: number;
  readonly limit: number;
  /** `next` of the previous page. */
  readonly cursor: string | null;
};

/**
 * Returns a page, newest first; its `next` is null on the last page. Returns null for an invalid
 * cursor.
 */
export async function searchKeys(
  read: Db,
  { limit, cursor, ...filters }: KeySearch,
): Promise<{ readonly keys: readonly KeyListing[]; readonly next: string | null } | null> {
  const query = matching(read.selectFrom('api_keys').selectAll(), filters);
  const page = await readNewestFirst(query, { table: 'api_keys', limit, cursor });
  return page && { keys: page.rows.map(toListing), next: page.next };
}

type SortedKeys = Omit<KeySearch, 'cursor'> & {
  readonly order: 'spent-today' | 'spent-this-month' | 'last-used';
};

/** Returns the keys with the highest spend or the newest use; the newest key first among equals. */
export async function sortKeys(
  read: Db,
  { order, limit, ...filters }: SortedKeys,
): Promise<readonly KeyListing[]> {
  const measure = order === 'last-used' ? lastUse : spentIn(order, filters.nowMs);
  const rows = await matching(read.selectFrom('api_keys').selectAll(), filters)
    .orderBy(sql`coalesce(${measure}, 0)`, 'desc')
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toListing);
}

const lastUse = sql<number>`(select last_used_at_ms from key_uses where key_uses.key_id = api_keys.id)`;

function spentIn(order: 'spent-today' | 'spent-this-month', nowMs: number) {
  const day = dayOf(nowMs);
  const [kind, startsOn] = order === 'spent-today' ? ['day', day] : ['month', day.slice(0, 7)];
  return sql<number>`(select settled_micros from key_windows
    where key_windows.key_id = api_keys.id and kind = ${kind} and starts_on = ${startsOn})`;
}

function matching<Output>(
  keys: SelectQueryBuilder<Tables, 'api_keys', Output>,
  { accountId, mode, text, states, nowMs }: Omit<KeySearch, 'cursor' | 'limit'>,
) {
  let query = keys;
  if (accountId !== undefined) query = query.where('account_id', '=', accountId);
  if (mode !== undefined) query = query.where('mode', '=', mode);
  if (text !== undefined) query = query.where(containsText(text));
  if (states !== undefined)
    query = query.where((eb) => eb.or(states.map((state) => inState(state, nowMs))));
  return query;
}

function containsText(text: string) {
  return sql<SqlBool>`(${contains('name', text)} or ${contains('hint', text)} or id = ${text})`;
}

/** `keyStateOf` in SQL. */
function inState(state: KeyState, nowMs: number) {
  const isExpired = sql`(expires_at_ms is not null and expires_at_ms <= ${nowMs})`;
  const conditions = {
    revoked: sql<SqlBool>`revoked_at_ms is not null`,
    disabled: sql<SqlBool>`(revoked_at_ms is null and disabled_at_ms is not null)`,
    expired: sql<SqlBool>`(revoked_at_ms is null and disabled_at_ms is null and ${isExpired})`,
    active: sql<SqlBool>`(revoked_at_ms is null and disabled_at_ms is null and not ${isExpired})`,
  };
  return conditions[state];
}

export function toListing(row: Selectable<Tables['api_keys']>) {
  return {
    id: row.id,
    account_id: row.account_id,
    mode: row.mode,
    name: row.name,
    hint: row.hint,
    daily_cap_micros: row.daily_cap_micros,
    monthly_cap_micros: row.monthly_cap_micros,
    models: readList(row.models),
    scopes: readList(row.scopes) as readonly KeyScope[] | null,
    requests_per_minute: row.requests_per_minute,
    tokens_per_minute: row.tokens_per_minute,
    concurrent_requests: row.concurrent_requests,
    allowed_addresses: readList(row.allowed_addresses),
    expires_at: isoTimeOf(row.expires_at_ms),
    body_days: row.body_days,
    cache_marks: row.cache_marks === 1,
    created_at: new Date(row.created_at_ms).toISOString(),
    disabled_at: isoTimeOf(row.disabled_at_ms),
    revoked_at: isoTimeOf(row.revoked_at_ms),
  };
}
