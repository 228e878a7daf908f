// Programs on machines without a browser that ask for a key (RFC 8628). The program gets a long code,
// with which it asks again and again; a user types or follows a short one, and confirms. The key is
// made when the program next asks, so that its text is stored nowhere. Only digests of the codes are
// stored. The short code's is keyed, because it has only 34 random bits.
import { createHmac, randomInt } from 'node:crypto';
import type { Db } from '../../db/schema.ts';
import { clientGroupOf } from '../../lib/addresses.ts';
import { deriveKey, type Secret } from '../../lib/secrets.ts';
import { digestOf, newToken } from './one-time-link.ts';
import { snakeCase } from '../../lib/snake-case.ts';

export const deviceLoginMs = 10 * 60_000;
/** Of all users together: a guess at a short code hits one of them once in 25 million. */
const deviceLoginsMax = 1_000;
/** Without vowels, so that no code is a word (RFC 8628, 6.1). */
const alphabet = 'BCDFGHJKLMNPQRSTVWXZ';

export type Asking = { readonly program: string; readonly address: string };
export type DeviceCodes = { readonly deviceCode: string; readonly userCode: string };

/** What `server/device-login.ts` needs. */
export type DeviceLogins = {
  /** Returns null when the short code is another program's, which is rare. */
  readonly begin: (asking: Asking) => Promise<DeviceCodes | null>;
  /** Makes the key of a confirmed login, once. `gone`: unknown, used or expired. */
  readonly poll: (deviceCode: string) => Promise<
    | { readonly kind: 'open' | 'denied' | 'gone' }
    | {
        readonly kind: 'made';
        readonly key: string;
        /** Of the user who has confirmed. */
        readonly email: string;
        readonly lifetimeMs: number;
      }
  >;
  /** Revokes the key of a program that signs out. Other texts change nothing. */
  readonly revoke: (key: string, address: string) => Promise<void>;
};

/** Returns null when the short code is another program's. */
export async function beginDeviceLogin(
  transient: Db,
  secret: Secret,
  asking: Asking,
  nowMs: number,
): Promise<DeviceCodes | null> {
  const signs = Array.from({ length: 8 }, () => alphabet[randomInt(alphabet.length)]!).join('');
  const codes = { deviceCode: newToken(), userCode: writtenCode(signs) };
  await transient.deleteFrom('device_logins').where('expires_at_ms', '<=', nowMs).execute();
  await makeRoom(transient);
  const { numInsertedOrUpdatedRows: inserted } = await transient
    .insertInto('device_logins')
    .values({
      ...asking,
      device_digest: digestOf(codes.deviceCode),
      user_digest: userDigest(secret, codes.userCode),
      expires_at_ms: nowMs + deviceLoginMs,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return inserted === 1n ? codes : null;
}

/**
 * Removes logins beyond the limit, each the oldest of the network that has most: a stranger who begins
 * many displaces their own.
 */
async function makeRoom(transient: Db): Promise<void> {
  const waiting = await transient
    .selectFrom('device_logins')
    .select(['device_digest', 'address'])
    .orderBy('expires_at_ms')
    .execute();
  const byNetwork = [...Map.groupBy(waiting, ({ address }) => networkOf(address)).values()];
  const displaced: string[] = [];
  while (waiting.length - displaced.length >= deviceLoginsMax) {
    const largest = byNetwork.reduce((most, one) => (one.length > most.length ? one : most));
    displaced.push(largest.shift()!.device_digest);
  }
  if (displaced.length > 0)
    await transient.deleteFrom('device_logins').where('device_digest', 'in', displaced).execute();
}

/** An IPv4 address, or the /48 of an IPv6 address, which one customer of a host may have. */
function networkOf(address: string): string {
  return clientGroupOf(address).split(':', 3).join(':');
}

/** What a user sees before confirming; null when nobody has this code, or it was decided. */
export async function findDeviceLogin(
  read: Db,
  secret: Secret,
  userCode: string,
  nowMs: number,
): Promise<(Asking & { readonly expiresAtMs: number }) | null> {
  const row = await read
    .selectFrom('device_logins')
    .select(['program', 'address', 'expires_at_ms as expiresAtMs'])
    .where('user_digest', '=', userDigest(secret, userCode))
    .where('expires_at_ms', '>', nowMs)
    .where('user_id', 'is', null)
    .where('is_denied', '=', 0)
    .executeTakeFirst();
  return row ?? null;
}

export type Confirmation = {
  readonly accountId: string;
  readonly userId: string;
  readonly keyName: string;
  /** The address of the browser. */
  readonly confirmedFrom: string;
};

/** Of several that decide at once, one does. Returns false when the code is unknown or was decided. */
export async function decideDeviceLogin(
  db: Db,
  userDigestOfCode: string,
  decision: Confirmation | 'denied',
  nowMs: number,
): Promise<boolean> {
  const columns = decision === 'denied' ? { is_denied: 1 as const } : snakeCase(decision);
  const { numUpdatedRows } = await db
    .updateTable('device_logins')
    .set(columns)
    .where('user_digest', '=', userDigestOfCode)
    .where('expires_at_ms', '>', nowMs)
    .where('user_id', 'is', null)
    .where('is_denied', '=', 0)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

export type DeviceLogin =
  | { readonly kind: 'open' | 'denied' | 'gone' }
  | ({ readonly kind: 'confirmed'; readonly email: string } & Confirmation);

/** `gone`: unknown, used or expired. */
export async function readDeviceLogin(
  read: Db,
  deviceCode: string,
  nowMs: number,
): Promise<DeviceLogin> {
  const row = await read
    .selectFrom('device_logins')
    .leftJoin('users', 'users.id', 'device_logins.user_id')
    .select(['is_denied', 'account_id', 'user_id', 'key_name', 'confirmed_from', 'users.email'])
    .where('device_digest', '=', digestOf(deviceCode))
    .where('expires_at_ms', '>', nowMs)
    .executeTakeFirst();
  if (!row) return { kind: 'gone' };
  if (row.is_denied === 1) return { kind: 'denied' };
  const { account_id: accountId, user_id: userId, key_name: keyName, email } = row;
  if (accountId === null || userId === null || keyName === null || email === null)
    return { kind: 'open' };
  const confirmedFrom = row.confirmed_from ?? '';
  return { kind: 'confirmed', accountId, userId, keyName, confirmedFrom, email };
}

/** Uses up a confirmed login. Of several that ask at once, one gets true. */
export async function useDeviceLogin(
  transaction: Db,
  deviceCode: string,
  nowMs: number,
): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom('device_logins')
    .where('device_digest', '=', digestOf(deviceCode))
    .where('expires_at_ms', '>', nowMs)
    .where('user_id', 'is not', null)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

/** Ends what a user has confirmed: somebody else may have had the session. */
export async function endDeviceLogins(write: Db, userId: string): Promise<void> {
  await write.deleteFrom('device_logins').where('user_id', '=', userId).execute();
}

/** Small letters, and signs between the letters, do not matter. */
export function userDigest(secret: Secret, userCode: string): string {
  return createHmac('sha256', deriveKey(secret, 'device codes'))
    .update(lettersOf(userCode))
    .digest('base64url');
}

/** Returns a code as its program shows it: `WDJB-MJHT`. */
export function writtenCode(userCode: string): string {
  const letters = lettersOf(userCode);
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

function lettersOf(userCode: string): string {
  return userCode.toUpperCase().replaceAll(/[^A-Z]/g, '');
}
