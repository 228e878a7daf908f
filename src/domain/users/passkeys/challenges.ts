// Challenges that a passkey signs. A challenge is not stored when it is made, so a visitor of the
// sign-in page costs no write. It carries its end and a MAC, which binds it to one purpose: the
// sign-in of one browser, or an addition in one session. Once answered, it is kept until its end, so
// that no answer counts twice.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Db } from '../../../db/schema.ts';
import { deriveKey, type Secrets } from '../../../lib/secrets.ts';

/** The sign-in page and the browser's own dialog may stay open for this long. */
export const challengeLifetimeMs = 10 * 60_000;

const nonceBytes = 16;
const timeBytes = 6;
const macBytes = 32;
const wholeBytes = nonceBytes + timeBytes + macBytes;

export class Challenges {
  /** One for each accepted secret, the current one first. */
  readonly #keys: readonly Uint8Array[];

  constructor(secrets: Secrets) {
    this.#keys = secrets.map((secret) => deriveKey(secret, 'passkey challenges'));
  }

  /** Returns a challenge in base64url. */
  make(purpose: string, nowMs: number): string {
    const head = Buffer.alloc(nonceBytes + timeBytes);
    randomBytes(nonceBytes).copy(head);
    head.writeUIntBE(nowMs + challengeLifetimeMs, nonceBytes, timeBytes);
    return Buffer.concat([head, macUnder(this.#keys[0]!, head, purpose)]).toString('base64url');
  }

  /** Returns true when we made the challenge for this purpose and its time is not over. */
  isValid(challenge: string, purpose: string, nowMs: number): boolean {
    const bytes = Buffer.from(challenge, 'base64url');
    if (bytes.length !== wholeBytes || bytes.toString('base64url') !== challenge) return false;
    const head = bytes.subarray(0, nonceBytes + timeBytes);
    const mac = bytes.subarray(nonceBytes + timeBytes);
    return (
      nowMs < endOf(bytes) &&
      this.#keys.some((key) => timingSafeEqual(mac, macUnder(key, head, purpose)))
    );
  }
}

/** Uses a valid challenge up. Returns false when it was used before. */
export async function useChallenge(write: Db, challenge: string, nowMs: number): Promise<boolean> {
  await write.deleteFrom('used_passkey_challenges').where('expires_at_ms', '<', nowMs).execute();
  const inserted = await write
    .insertInto('used_passkey_challenges')
    .values({ challenge, expires_at_ms: endOf(Buffer.from(challenge, 'base64url')) })
    .onConflict((conflict) => conflict.column('challenge').doNothing())
    .returning('challenge')
    .executeTakeFirst();
  return inserted !== undefined;
}

function endOf(bytes: Buffer): number {
  return bytes.readUIntBE(nonceBytes, timeBytes);
}

function macUnder(key: Uint8Array, head: Uint8Array, purpose: string): Buffer {
  return createHmac('sha256', key).update(head).update(purpose).digest();
}
