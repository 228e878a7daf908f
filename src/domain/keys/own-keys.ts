// Keys of providers that accounts bring. They are encrypted, and nobody is shown them again. Each is
// bound to its row, account, provider and address: an operator who moves the provider does not get it.
// Gateways learn of a change with the account's API keys.
import { hash } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Db, Tables } from '../../db/schema.ts';
import { SealedRows } from '../../db/sealed-rows.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { isoTimeOf } from '../../lib/iso-time.ts';
import type { Secrets } from '../../lib/secrets.ts';
import type { OwnKey } from './api-key.ts';

type Row = Selectable<Tables['own_keys']>;
type Place = Pick<Row, 'id' | 'account_id' | 'provider' | 'address_digest'>;

export const sealedOwnKeys = new SealedRows<Place>({
  table: 'own_keys',
  key: 'id',
  column: 'sealed',
  purpose: 'own keys',
  contextOf: ({ id, account_id: accountId, provider, address_digest: address }) =>
    [id, accountId, provider, address].join(' '),
});

export type OwnKeyListing = ReturnType<typeof toListing>;

export type OwnKeyOrder = Pick<OwnKeyListing, 'provider' | 'order'> & {
  readonly accountId: string;
  readonly apiKey: string;
  /** The provider's address. */
  readonly address: string;
};

/** An address may have a password. */
export function digestOfAddress(address: string): string {
  return hash('sha256', address, 'base64url');
}

/** Returns a row to insert. */
export async function newOwnKey(
  secrets: Secrets,
  { accountId, provider, order, apiKey, address }: OwnKeyOrder,
  nowMs: number,
): Promise<Row> {
  const row = {
    id: newIdWithPrefix('own'),
    account_id: accountId,
    provider,
    address_digest: digestOfAddress(address),
  };
  return {
    ...row,
    // Of a short key, even its end would be too much of it.
    shown_end: apiKey.length < 16 ? '' : apiKey.trimEnd().slice(-4),
    goes_first: order === 'before' ? 1 : 0,
    ...(await sealedOwnKeys.seal(secrets, row, apiKey)),
    created_at_ms: nowMs,
    refused_at_ms: null,
  };
}

export async function listOwnKeys(db: Db, accountId: string): Promise<readonly OwnKeyListing[]> {
  return (await rowsOf(db, accountId)).map(toListing);
}

/** The oldest first. */
function rowsOf(db: Db, accountId: string): Promise<Row[]> {
  return db
    .selectFrom('own_keys')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('created_at_ms')
    .orderBy('id')
    .execute();
}

export function toListing(row: Row) {
  return {
    id: row.id,
    provider: row.provider,
    order: row.goes_first === 1 ? ('before' as const) : ('after' as const),
    shown_end: row.shown_end,
    created_at: new Date(row.created_at_ms).toISOString(),
    last_refused_at: isoTimeOf(row.refused_at_ms),
    address_digest: row.address_digest,
  };
}

/**
 * Returns the keys of an account for its requests, the oldest first. One that cannot be decrypted is
 * left out and reported.
 */
export async function readOwnKeys(
  read: Db,
  secrets: Secrets,
  { accountId, onError }: { readonly accountId: string; onError: (error: unknown) => void },
): Promise<readonly OwnKey[]> {
  const opened = (await rowsOf(read, accountId)).map(async (row) => {
    const apiKey = await sealedOwnKeys.open(secrets, row, row.sealed).catch(onError);
    const { id, provider, address_digest: addressDigest } = row;
    const goesFirst = row.goes_first === 1;
    return apiKey === undefined ? [] : [{ id, provider, addressDigest, apiKey, goesFirst }];
  });
  return (await Promise.all(opened)).flat();
}

/** Notes that a provider refused a key. Returns undefined when that is known, or the key is gone. */
export function noteRefused(write: Db, id: string, nowMs: number): Promise<Row | undefined> {
  return write
    .updateTable('own_keys')
    .set({ refused_at_ms: nowMs })
    .where('id', '=', id)
    .where((eb) =>
      eb.or([eb('refused_at_ms', 'is', null), eb('refused_at_ms', '<', nowMs - notedEveryMs)]),
    )
    .returningAll()
    .executeTakeFirst();
}

/** Busy accounts have many refusals of one key. */
const notedEveryMs = 60_000;
