// The sign-in library's database adapter with two things that the library has no setting for. A
// session's token is stored as a digest, so a leaked database or backup gives nobody a session. And
// a link to an identity provider is written in one transaction with its audit row.
import type { BetterAuthOptions, DBAdapter, Where } from 'better-auth';
import type { Insertable } from 'kysely';
import { isPostgresUrl, type Database } from '../../db/database.ts';
import type { Db, Tables } from '../../db/schema.ts';
import { transact } from '../../db/transact.ts';
import { digestOf } from './one-time-link.ts';

/** Builds the audit log's row for a change that a user made without being signed in. */
export type OwnChangeRow = (change: {
  readonly action: 'user.link-provider' | 'account.create';
  readonly user: { readonly id: string; readonly email: string };
  /** Default: the change is about the user. */
  readonly accountId?: string;
  readonly after: object;
}) => Insertable<Tables['audit_log']>;

/** `write`: the connection, or the caller's transaction, which then has all that the library does. */
export async function openAdapter(
  options: BetterAuthOptions,
  { url, write }: Pick<Database, 'url' | 'write'>,
  ownChangeRow: OwnChangeRow,
): Promise<DBAdapter> {
  const { getAdapter } = await import('better-auth/db/adapter');
  const type = isPostgresUrl(url) ? 'postgres' : 'sqlite';
  const adapterOn = async (db: Db): Promise<DBAdapter> => {
    const database = { db, type, transaction: false } as const;
    const adapter = withHashedTokens(await getAdapter({ ...options, database }));
    const transaction: DBAdapter['transaction'] = (work) =>
      transact(db, async (transacting) => work(await adapterOn(transacting)));
    const create: DBAdapter['create'] = async (call) => {
      if (call.model !== 'account') return adapter.create(call);
      if (!db.isTransaction) return transaction((inner) => inner.create(call));
      await recordLink(db, ownChangeRow, call.data);
      return adapter.create(call);
    };
    return { ...adapter, create, transaction };
  };
  return adapterOn(write);
}

async function recordLink(
  transaction: Db,
  ownChangeRow: OwnChangeRow,
  { userId, providerId }: { readonly userId?: unknown; readonly providerId?: unknown },
): Promise<void> {
  const user = await transaction
    .selectFrom('users')
    .select(['id', 'email'])
    .where('id', '=', String(userId))
    .executeTakeFirstOrThrow();
  const after = { provider: providerId };
  const row = ownChangeRow({ action: 'user.link-provider', user, after });
  await transaction.insertInto('audit_log').values(row).execute();
}

/** The methods that look for rows. */
const lookups = [
  'findOne',
  'findMany',
  'count',
  'update',
  'updateMany',
  'delete',
  'deleteMany',
  'consumeOne',
  'incrementOne',
] as const;

type Lookup = { readonly model: string; readonly where?: readonly Where[] };

/**
 * Digests the tokens of every call. Returned rows carry the plain token of the call, because the
 * library puts it in the cookie.
 */
function withHashedTokens(inner: DBAdapter): DBAdapter {
  const hashing = lookups.map((name) => {
    const run = inner[name] as (call: Lookup) => Promise<unknown>;
    return [name, async (call: Lookup) => withToken(await run(hashed(call)), tokenOf(call))];
  });
  const create: DBAdapter['create'] = async ({ data, ...call }) => {
    const token = call.model === 'session' && 'token' in data ? String(data.token) : null;
    if (token === null) return inner.create({ ...call, data });
    const created = await inner.create({ ...call, data: { ...data, token: digestOf(token) } });
    return withToken(created, token) as never;
  };
  return { ...inner, ...(Object.fromEntries(hashing) as Pick<DBAdapter, Name>), create };
}

type Name = (typeof lookups)[number];

function isToken({ model }: Lookup, { field }: Where): boolean {
  return model === 'session' && field === 'token';
}

function hashed(call: Lookup): Lookup {
  const digest = (value: Where['value']) =>
    Array.isArray(value) ? value.map((one) => digestOf(String(one))) : digestOf(String(value));
  const where = call.where?.map((condition) =>
    isToken(call, condition) ? { ...condition, value: digest(condition.value) } : condition,
  );
  return { ...call, where };
}

/** The token that a call asks for; null when there is none or several. */
function tokenOf(call: Lookup): string | null {
  const value = call.where?.find((condition) => isToken(call, condition))?.value;
  return typeof value === 'string' ? value : null;
}

/** `found`: a row, or a list or number of rows, or none. */
function withToken(found: unknown, token: string | null): unknown {
  const isRow = typeof found === 'object' && found !== null && 'token' in found;
  return isRow && token !== null ? { ...found, token } : found;
}
