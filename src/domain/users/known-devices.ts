// Recognises browsers that have signed in before by a cookie. A user's wrong passwords are counted
// separately for each of them, so an attacker who guesses elsewhere delays unknown browsers only,
// never the user's own. The cookie alone grants nothing. It becomes invalid when the password
// changes: otherwise somebody who knew the old one could have collected many cookies, each with its
// own free attempts.
// https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Database } from '../../db/database.ts';
import { deriveKey, type Secrets } from '../../lib/secrets.ts';
import { findUser, passwordHashOf } from './user-records.ts';

/** The user, the device's name and its signature. */
const pattern = /^(usr_\w{1,40}\.[\w-]{22})\.([\w-]{43})$/;

export class KnownDevices {
  readonly #database: Database;
  /** One for each accepted secret, the current one first. */
  readonly #keys: readonly Uint8Array[];

  constructor(database: Database, secrets: Secrets) {
    this.#database = database;
    this.#keys = secrets.map((secret) => deriveKey(secret, 'known devices'));
  }

  /**
   * Returns the cookie's value after a successful sign-in. The device gets a new name each time, so
   * attempts counted under the last one no longer matter.
   */
  async nameDevice(userId: string): Promise<string> {
    const name = `${userId}.${randomBytes(16).toString('base64url')}`;
    const signed = await this.#signedFor(userId, name);
    return `${name}.${digestUnder(this.#keys[0]!, signed).toString('base64url')}`;
  }

  /** Returns the device's name when it has signed in as the user with this address, else null. */
  async find(cookie: string, email: string): Promise<string | null> {
    const match = pattern.exec(cookie);
    if (!match) return null;
    const [, name, signature] = match as unknown as [string, string, string];
    const [userId] = name.split('.') as [string];
    const given = Buffer.from(signature, 'base64url');
    const signed = await this.#signedFor(userId, name);
    if (!this.#keys.some((key) => timingSafeEqual(given, digestUnder(key, signed)))) return null;
    const user = await findUser(this.#database, { id: userId });
    return user?.email === email ? name : null;
  }

  async #signedFor(userId: string, name: string): Promise<string> {
    return `${name}\n${(await passwordHashOf(this.#database.read, userId)) ?? ''}`;
  }
}

function digestUnder(key: Uint8Array, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
