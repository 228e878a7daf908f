// Browsers that have signed in before, known by a cookie that they keep. A user's wrong passwords are counted for each of them apart from
// everybody else's, so that whoever guesses elsewhere keeps strangers waiting, and never the user. The cookie opens nothing by itself. It ends
// with the password it was given for: whoever knew the old one could have gathered many, each with tries of its own.
// https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Database } from '../db/database.ts';
import { deriveKey, type Secrets } from '../lib/secrets.ts';
import { findUser, passwordHashOf } from './user-records.ts';

const cookieName = 'tollgate.device';
/** As long as browsers keep any. https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-5.5 */
const maxAgeSeconds = 400 * 24 * 60 * 60;
const cookiePattern = /(?:^|;\s*)(?:__Host-)?tollgate\.device=(usr_\w{1,40})\.([\w-]{22})\.([\w-]{43})(?:;|$)/;

export class KnownDevices {
  readonly #database: Database;
  /** Of the current secret, then of those that are accepted beside it. */
  readonly #keys: readonly Uint8Array[];

  constructor(database: Database, secrets: Secrets) {
    this.#database = database;
    this.#keys = secrets.map((secret) => deriveKey(secret, 'known devices'));
  }

  /** For `Set-Cookie`, when a user has proved who he is. A new name each time: what was counted under the last one says nothing any more. */
  async cookieFor(userId: string, { isSecure }: { readonly isSecure: boolean }): Promise<string> {
    const name = `${userId}.${randomBytes(16).toString('base64url')}`;
    const prefix = isSecure ? '__Host-' : '';
    const attributes = `Max-Age=${maxAgeSeconds}; Path=/; HttpOnly;${isSecure ? ' Secure;' : ''} SameSite=Lax`;
    const signature = digestUnder(this.#keys[0]!, await this.#signedFor(userId, name)).toString('base64url');
    return `${prefix}${cookieName}=${name}.${signature}; ${attributes}`;
  }

  /** The name of a browser that has signed in as the user with this address, else null. */
  async find(cookie: string, email: string): Promise<string | null> {
    const match = cookiePattern.exec(cookie);
    if (!match) return null;
    const [, userId, device, signature] = match as unknown as [string, string, string, string];
    const name = `${userId}.${device}`;
    const given = Buffer.from(signature, 'base64url');
    const signed = await this.#signedFor(userId, name);
    if (!this.#keys.some((key) => timingSafeEqual(given, digestUnder(key, signed)))) return null;
    const user = await findUser(this.#database, { id: userId });
    return user?.email === email ? name : null;
  }

  async #signedFor(userId: string, name: string): Promise<string> {
    return `${name}\n${(await passwordHashOf(this.#database, userId)) ?? ''}`;
  }
}

function digestUnder(key: Uint8Array, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
